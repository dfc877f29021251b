//! Tables that are missing, that may not be used, or that are somebody else's.

use std::time::Duration;

use nimbus_inbox_core::{Cutoff, ErrorKind, InboxStore, PurgeLimit, Recorded};

use crate::server::{self, Schema, stranger};
use crate::support::{Test, cases, keys, told};

pub(crate) const TESTS: &[Test] = cases![
    a_missing_table_that_may_not_be_created_is_named,
    a_table_that_was_dropped_is_made_again,
    the_role_of_a_service_needs_no_more_than_is_documented,
    a_permission_that_is_missing_is_found_at_startup,
    a_role_that_may_not_create_a_schema_creates_the_table_in_one_that_exists,
    a_foreign_table_is_found_at_startup,
    a_database_that_can_not_hold_every_id_is_refused,
];

/// INB-27
async fn a_missing_table_that_may_not_be_created_is_named() {
    let schema = Schema::unique();
    let options = schema.options().with_auto_create(false);
    let inbox = schema.open_with(options.clone()).await;
    let text = told(ErrorKind::Configuration, inbox.check(&keys("m", 1)).await);
    let command = format!(
        "cargo xtask provision --postgres URL --schema {}",
        schema.name()
    );
    assert!(
        text.contains(&schema.table()) && text.contains(&command),
        "{text}"
    );

    let ddl = options.ddl();
    for _ in 0..2 {
        stranger()
            .await
            .batch_execute(&ddl)
            .await
            .expect("it tolerates to run again");
    }
    inbox.verify().await.expect("a table made by hand");
    let recorded = inbox.record(&keys("m", 1)).await;
    assert_eq!(recorded.expect("a record"), [Recorded::Now]);
}

/// INB-26, INB-27: the call that misses it fails, the next makes it.
async fn a_table_that_was_dropped_is_made_again() {
    let schema = Schema::unique();
    let inbox = schema.open().await;
    inbox.record(&keys("m", 1)).await.expect("a record");
    let drop = format!("drop table {}", schema.table());
    stranger()
        .await
        .batch_execute(&drop)
        .await
        .expect("nobody uses it");
    let text = told(ErrorKind::Configuration, inbox.check(&keys("m", 1)).await);
    assert!(text.contains("42P01"), "{text}");
    let again = inbox.record(&keys("m", 1)).await;
    assert_eq!(again.expect("a new table"), [Recorded::Now]);
}

/// A role that may do what the documentation lists, apart from `without`.
async fn service(schema: &Schema, without: &str) -> String {
    let (role, table) = (schema.name(), schema.table());
    let owner = schema.open().await;
    owner.verify().await.expect("a fresh schema");
    let grants = ["select", "insert", "delete", "update (message_id)"];
    let granted: Vec<_> = grants
        .into_iter()
        .filter(|grant| !grant.starts_with(without))
        .collect();
    stranger()
        .await
        .batch_execute(&format!(
            "create role \"{role}\"; grant usage on schema \"{role}\" to \"{role}\";
             grant {} on {table} to \"{role}\"",
            granted.join(", ")
        ))
        .await
        .expect("the server lets tests make roles");
    format!("-c role={role}")
}

/// Least privilege: what is granted is enough for every call.
async fn the_role_of_a_service_needs_no_more_than_is_documented() {
    let schema = Schema::unique();
    schema.open().await.verify().await.expect("a fresh schema");
    let role = schema.name();
    let options = schema.options().with_auto_create(false);
    let grants = format!("create role \"{role}\"; {}", options.grants(role));
    stranger()
        .await
        .batch_execute(&grants)
        .await
        .expect("a role");
    let inbox = schema.open_set(&format!("-c role={role}"), options).await;
    inbox.verify().await.expect("all permissions");
    let all = keys("m", 3);
    inbox.record(&all).await.expect("insert");
    let found = inbox.check(&all).await.expect("select");
    assert!(found.iter().all(Option::is_some));
    let everything = Cutoff::OlderThan(Duration::ZERO);
    let purged = inbox
        .purge(all[0].endpoint(), everything, PurgeLimit::MAX)
        .await;
    assert_eq!(purged.expect("lock and delete"), 3);
}

/// INB-32: not by the first message, and not by the first purge an hour later.
async fn a_permission_that_is_missing_is_found_at_startup() {
    for without in ["select", "insert", "delete", "update"] {
        let schema = Schema::unique();
        let settings = service(&schema, without).await;
        let inbox = schema.open_set(&settings, schema.options()).await;
        let text = told(ErrorKind::Configuration, inbox.verify().await);
        assert!(
            text.contains("42501") && text.contains(&schema.table()),
            "{without}: {text}"
        );
    }
}

/// INB-27: creating a schema that exists would ask for the permission all the same.
async fn a_role_that_may_not_create_a_schema_creates_the_table_in_one_that_exists() {
    let schema = Schema::unique();
    let role = schema.name();
    let create_schema = format!(
        "create role \"{role}\"; create schema \"{role}\";
         grant usage, create on schema \"{role}\" to \"{role}\""
    );
    stranger()
        .await
        .batch_execute(&create_schema)
        .await
        .expect("a schema");
    let inbox = schema
        .open_set(&format!("-c role={role}"), schema.options())
        .await;
    inbox.verify().await.expect("its own table");
    // Else the role could not be dropped.
    stranger()
        .await
        .batch_execute(&format!("drop table {}", schema.table()))
        .await
        .expect("it is there");
}

/// INB-32: columns, keys and kinds of relations that no statement of ours could use.
async fn a_foreign_table_is_found_at_startup() {
    for definition in [
        "create table {} (identity_hash bytea primary key)",
        "create table {} (identity_hash bytea, endpoint_id text, message_id text, created_at timestamptz)",
        "create table {} (identity_hash text primary key, endpoint_id text, message_id text, created_at timestamptz)",
        "create table {} (identity_hash bytea primary key, endpoint_id text, message_id text, created_at timestamp)",
        "create view {} as select 1 as identity_hash",
    ] {
        let schema = Schema::unique();
        let definition = definition.replace("{}", &schema.table());
        let text = format!("create schema {}; {definition}", schema.name());
        stranger()
            .await
            .batch_execute(&text)
            .await
            .expect("a statement");
        let inbox = schema.open().await;
        let text = told(ErrorKind::Configuration, inbox.verify().await);
        assert!(text.contains("--check"), "{definition}: {text}");
    }
}

/// INB-01: a text that the server would have to convert could be refused later.
async fn a_database_that_can_not_hold_every_id_is_refused() {
    let schema = Schema::unique();
    let create = format!(
        "create database \"{}\" encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0",
        schema.name()
    );
    stranger()
        .await
        .batch_execute(&create)
        .await
        .expect("a database");
    let address = server::at(server::socket(), Some(schema.name()));
    let inbox = schema.open_at(&address, schema.options()).await;
    let text = told(ErrorKind::Configuration, inbox.verify().await);
    assert!(text.contains("LATIN1") && text.contains("UTF8"), "{text}");
    inbox.pool().close();
}
