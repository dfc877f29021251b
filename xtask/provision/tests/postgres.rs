//! The command on PostgreSQL, as an operator runs it.

#[path = "../../../crates/nimbus-inbox-postgres/tests/server/mod.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod server;

use std::process::{Command, Output};

use nimbus_inbox_core::InboxStore;
use nimbus_inbox_testing::ServiceTests;

use server::{Schema, stranger};

fn provision(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nimbus-provision"))
        .args(arguments)
        .output()
        .expect("the program runs")
}

/// What it printed, and its exit code.
fn run(arguments: &[&str]) -> (String, Option<i32>) {
    let output = provision(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = text(&output.stdout) + &text(&output.stderr);
    assert!(!told.contains("panicked"), "{told}");
    (told, output.status.code())
}

fn succeed(arguments: &[&str]) -> String {
    let (told, code) = run(arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {told}");
    told
}

fn fail(arguments: &[&str]) -> String {
    let (told, code) = run(arguments);
    assert_eq!(code, Some(1), "{arguments:?}: {told}");
    told
}

async fn execute(text: &str) {
    stranger()
        .await
        .batch_execute(text)
        .await
        .expect("a statement");
}

/// INB-27: what is created is as needed, and creating again changes nothing.
async fn tables_are_created_and_checked() {
    let schema = Schema::unique();
    let (url, name) = (server::address(), schema.name());
    let both = [
        "--postgres",
        url,
        "--postgres-sessions",
        url,
        "--schema",
        name,
    ];
    let check = [&both[..], &["--check"]].concat();
    let told = fail(&check);
    assert!(told.contains("inbox_messages: missing"), "{told}");
    assert!(told.contains("without --check"), "{told}");

    let told = succeed(&both);
    for created in ["inbox_messages", "session_states", "session_parked"] {
        let line = format!("created table {name}.{created}");
        assert!(told.contains(&line), "{told}");
    }
    let told = succeed(&both);
    assert!(!told.contains("created"), "{told}");
    let told = succeed(&check);
    assert!(
        told.contains("inbox as needed") && told.contains("sessions as needed"),
        "{told}"
    );
}

async fn an_index_that_is_missing_is_added() {
    let schema = Schema::unique();
    let (url, name) = (server::address(), schema.name());
    let inbox = ["--postgres", url, "--schema", name];
    let check = [&inbox[..], &["--check"]].concat();
    succeed(&inbox);
    execute(&format!("drop index {name}.inbox_messages_created_at")).await;
    let told = fail(&check);
    assert!(
        told.contains("index inbox_messages_created_at is missing"),
        "{told}"
    );
    let told = succeed(&inbox);
    assert!(
        told.contains("created index inbox_messages_created_at"),
        "{told}"
    );
    succeed(&check);
}

/// Somebody's own index and column are no drift; a column that no record has a value for is.
async fn what_differs_is_told_and_left_alone() {
    let schema = Schema::unique();
    let (url, name) = (server::address(), schema.name());
    let inbox = ["--postgres", url, "--schema", name];
    let check = [&inbox[..], &["--check"]].concat();
    succeed(&inbox);
    execute(&format!(
        "create index on {name}.inbox_messages (message_id);
         alter table {name}.inbox_messages add note text"
    ))
    .await;
    succeed(&check);
    for (statement, expected) in [
        (
            "alter table {} add reason text not null",
            "column reason is text not null, which no record has a value for",
        ),
        (
            "alter table {} alter created_at drop default",
            "column created_at is timestamp with time zone not null, should be timestamp with \
             time zone not null default now()",
        ),
        (
            "alter table {} alter endpoint_id type text collate \"POSIX\"",
            "column endpoint_id is text not null collate \"POSIX\"",
        ),
        (
            "alter table {} drop constraint inbox_messages_pkey",
            "the primary key is missing, should be identity_hash",
        ),
        (
            "alter table {} drop message_id",
            "column message_id is missing",
        ),
    ] {
        execute(&statement.replace("{}", &schema.table())).await;
        let told = fail(&check);
        assert!(told.contains(expected), "{told}");
        let told = fail(&inbox);
        assert!(told.contains("can't repair that"), "{told}");
    }
}

/// Least privilege: one role provisions, another one runs.
async fn the_runtime_role_gets_what_it_needs() {
    let schema = Schema::unique();
    let (url, name) = (server::address(), schema.name());
    let inbox = ["--postgres", url, "--schema", name, "--runtime-role", name];
    let told = fail(&inbox);
    assert!(told.contains("42704"), "no such role: {told}");
    execute(&format!("create role {name}")).await;
    let told = succeed(&inbox);
    assert!(
        told.contains("permissions of the runtime role granted"),
        "{told}"
    );
    let options = schema.options().with_auto_create(false);
    let service = schema.open_set(&format!("-c role={name}"), options).await;
    service.verify().await.expect("all permissions");
}

async fn a_dry_run_prints_and_touches_nothing() {
    let schema = Schema::unique();
    let (url, name) = (server::address(), schema.name());
    let dry = [
        "--postgres",
        url,
        "--schema",
        name,
        "--table",
        "events",
        "--runtime-role",
        "app",
        "--dry-run",
    ];
    let told = succeed(&dry);
    assert!(
        told.contains(&format!("create table if not exists \"{name}\".\"events\"")),
        "{told}"
    );
    assert!(told.contains("to \"app\""), "{told}");
    let row = stranger()
        .await
        .query_one(
            "select count(*) from pg_namespace where nspname = $1::text",
            &[&name],
        )
        .await
        .expect("an answer");
    assert_eq!(row.get::<_, i64>(0), 0);
}

/// INB-11
async fn a_password_in_the_address_is_not_repeated() {
    for arguments in [
        [
            "--postgres",
            "postgres://app:hunter2@127.0.0.1:1/x?sslmode=disable",
            "--check",
        ],
        [
            "--postgres",
            "postgres://app:hunter2@127.0.0.1:1/x?sslmode=hunter2",
            "--check",
        ],
        [
            "--postgres",
            "postgres://app:hunter2@127.0.0.1:1/x",
            "--dry-run",
        ],
    ] {
        let (told, _) = run(&arguments);
        assert!(!told.contains("hunter2"), "{told}");
    }
}

fn suite() -> ServiceTests {
    let tests = ServiceTests::new("postgres")
        .test(
            "tables_are_created_and_checked",
            tables_are_created_and_checked,
        )
        .test(
            "an_index_that_is_missing_is_added",
            an_index_that_is_missing_is_added,
        )
        .test(
            "what_differs_is_told_and_left_alone",
            what_differs_is_told_and_left_alone,
        )
        .test(
            "the_runtime_role_gets_what_it_needs",
            the_runtime_role_gets_what_it_needs,
        )
        .test(
            "a_dry_run_prints_and_touches_nothing",
            a_dry_run_prints_and_touches_nothing,
        )
        .test(
            "a_password_in_the_address_is_not_repeated",
            a_password_in_the_address_is_not_repeated,
        );
    match server::find() {
        Ok(_) => tests,
        Err(reason) => tests.unavailable(reason),
    }
}

nimbus_inbox_testing::conformance!(suites: suite());
