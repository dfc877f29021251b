//! The command as an operator runs it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use nimbus_sqlite::rusqlite::Connection;
use tempfile::TempDir;

/// A directory to run in, so that texts hold plain file names.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_nimbus-provision"))
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .expect("the program runs")
    }

    /// What it printed, when it succeeded.
    fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let (stdout, stderr) = texts(&output);
        assert!(output.status.success(), "{arguments:?}: {stdout}{stderr}");
        stdout
    }

    /// What it printed on both, when it failed with exit code 1.
    fn fail(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stdout}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        stdout + &stderr
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn files(&self) -> BTreeSet<String> {
        names(self.0.path())
    }

    fn execute(&self, file: &str, sql: &str) {
        Connection::open(self.path(file))
            .and_then(|connection| connection.execute_batch(sql))
            .expect("plain statements");
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).expect("readable");
    entries
        .map(|entry| entry.expect("readable").file_name().into_string())
        .map(|name| name.expect("plain names"))
        .collect()
}

/// INB-27: what it creates is what its check asks for, and creating again changes nothing.
#[test]
fn what_was_created_passes_the_check_and_can_be_created_again() {
    let place = Place::new();
    let all = [
        "--sqlite",
        "inbox.db",
        "--sessions",
        "inbox.db",
        "--embedded",
        "queue.db",
    ];
    let expected = "\
inbox.db: inbox as needed
inbox.db: sessions as needed
queue.db: embedded-queue as needed
";
    let created = place.succeed(&all);
    for line in [
        "inbox.db: created table nimbus_inbox\ninbox.db: inbox as needed\n",
        "inbox.db: created table nimbus_session_parked\ninbox.db: sessions as needed\n",
        "queue.db: created table nimbus_queue\n",
    ] {
        assert!(created.contains(line), "{created}");
    }
    assert_eq!(place.succeed(&all), expected);
    let check = [&all[..], &["--check"]].concat();
    assert_eq!(place.succeed(&check), expected);
}

/// A service that keeps no sessions in its file needs the inbox alone.
#[test]
fn a_file_with_the_inbox_alone_passes() {
    let place = Place::new();
    place.succeed(&["--sqlite", "inbox.db"]);
    place.succeed(&["--sqlite", "inbox.db", "--check"]);
    let text = place.fail(&["--sessions", "inbox.db", "--check"]);
    assert!(text.contains("table nimbus_session: missing"), "{text}");
    let text = place.succeed(&["--sqlite", "inbox.db", "--dry-run"]);
    assert!(!text.contains("nimbus_session"), "{text}");
}

/// One file may hold everything.
#[test]
fn inbox_and_queue_can_share_a_file() {
    let place = Place::new();
    let all = [
        "--sqlite",
        "all.db",
        "--sessions",
        "all.db",
        "--embedded",
        "all.db",
        "--resolver",
        "all.db",
    ];
    place.succeed(&all);
    place.succeed(&[&all[..], &["--check"]].concat());
}

#[test]
fn a_dry_run_prints_the_statements_and_touches_nothing() {
    let place = Place::new();
    let arguments = [
        "--dry-run",
        "--sqlite",
        "inbox.db",
        "--sessions",
        "inbox.db",
        "--embedded",
        "queue.db",
    ];
    let printed = place.succeed(&arguments);
    assert_eq!(place.files(), BTreeSet::new());
    for table in ["\"nimbus_inbox\"", "nimbus_session", "nimbus_queue"] {
        let statement = format!("create table if not exists {table} (");
        assert!(printed.contains(&statement), "{printed}");
    }

    // They are what is needed.
    for file in ["inbox.db", "queue.db"] {
        place.execute(file, &printed);
    }
    let check = [&["--check"][..], &arguments[1..]].concat();
    place.succeed(&check);
}

#[test]
fn a_check_creates_nothing_and_leaves_nothing_behind() {
    let place = Place::new();
    let text = place.fail(&["--check", "--sqlite", "absent.db"]);
    assert!(text.contains("absent.db does not exist"), "{text}");
    assert_eq!(place.files(), BTreeSet::new());

    place.execute(
        "empty.db",
        "PRAGMA journal_mode = WAL; create table own (a)",
    );
    let before = fs::read(place.path("empty.db")).expect("readable");
    let text = place.fail(&["--check", "--sessions", "empty.db"]);
    let expected = "\
empty.db: sessions not as needed
  table nimbus_session: missing
  table nimbus_session_parked: missing
Run the same command without --check to create them.
";
    assert_eq!(text, expected);
    assert_eq!(place.files(), BTreeSet::from(["empty.db".to_owned()]));
    assert_eq!(fs::read(place.path("empty.db")).expect("readable"), before);
}

/// Whoever wrote the statements by hand needs the same tables, not the same text.
#[test]
fn the_same_tables_in_other_words_pass() {
    let place = Place::new();
    place.succeed(&["--sqlite", "inbox.db"]);
    place.execute(
        "inbox.db",
        "drop table nimbus_inbox;
         CREATE TABLE [Nimbus_Inbox] (
             created_at INTEGER NOT NULL, message_id TEXT NOT NULL, endpoint_id TEXT NOT NULL,
             identity_hash BLOB NOT NULL, PRIMARY KEY (identity_hash)) WITHOUT ROWID, STRICT;
         CREATE INDEX NIMBUS_INBOX_CREATED_AT ON nimbus_inbox (Endpoint_Id, Created_At);
         CREATE INDEX my_own ON nimbus_inbox (message_id);",
    );
    place.succeed(&["--check", "--sqlite", "inbox.db"]);
}

#[test]
fn every_drift_is_told_in_words() {
    let drifted = |sql: &str| {
        let place = Place::new();
        let all = [
            "--sqlite",
            "inbox.db",
            "--sessions",
            "inbox.db",
            "--embedded",
            "inbox.db",
        ];
        place.succeed(&all);
        place.execute("inbox.db", sql);
        place.fail(&[&all[..], &["--check"]].concat())
    };
    let inbox = |columns: &str, options: &str| {
        format!(
            "drop table nimbus_inbox;
             create table nimbus_inbox (identity_hash blob not null primary key, {columns})
                 {options};
             create index nimbus_inbox_created_at on nimbus_inbox (endpoint_id, created_at);"
        )
    };
    let good = "endpoint_id text not null, message_id text not null, created_at integer not null";
    for (sql, expected) in [
        (
            inbox(good, "strict"),
            "is strict, should be strict and without rowid",
        ),
        (
            inbox(good, "without rowid"),
            "is without rowid and not strict, should be strict and without rowid",
        ),
        (
            inbox(&good.replace("integer", "text"), "strict, without rowid"),
            "column created_at is TEXT not null, should be INTEGER not null",
        ),
        (
            inbox(
                &good.replace("integer not null", "integer"),
                "strict, without rowid",
            ),
            "column created_at is INTEGER, should be INTEGER not null",
        ),
        (
            inbox(&format!("{good} default 0"), "strict, without rowid"),
            "column created_at is INTEGER not null default 0, should be INTEGER not null",
        ),
        (
            inbox(&format!("{good}, note text"), "strict, without rowid"),
            "column note is there, should not be",
        ),
        (
            inbox(
                &good.replace("endpoint_id text", "endpoint_id text collate nocase"),
                "strict, without rowid",
            ),
            "index nimbus_inbox_created_at is on (endpoint_id collate NOCASE, created_at), should be on (endpoint_id, created_at)",
        ),
        (
            "alter table nimbus_inbox drop column message_id".to_owned(),
            "column message_id is missing, should be TEXT not null",
        ),
        (
            "drop index nimbus_inbox_created_at".to_owned(),
            "index nimbus_inbox_created_at is missing, should be on (endpoint_id, created_at)",
        ),
        (
            "drop index nimbus_inbox_created_at; create unique index nimbus_inbox_created_at
                 on nimbus_inbox (endpoint_id, created_at desc)"
                .to_owned(),
            "index nimbus_inbox_created_at is unique on (endpoint_id, created_at descending), should be",
        ),
        (
            "drop table nimbus_session".to_owned(),
            "table nimbus_session: missing",
        ),
        (
            "drop index nimbus_queue_message_aside; create index nimbus_queue_message_aside
                 on nimbus_queue_message (queue, state, sequence) where state = 'dead'"
                .to_owned(),
            "where state = 'dead', should be on (queue, state, sequence) where state in ('deferred', 'dead')",
        ),
    ] {
        let text = drifted(&sql);
        assert!(text.contains(expected), "{sql}\n{text}");
        let lines = text.lines().filter(|line| line.starts_with("  "));
        assert_eq!(lines.count(), 1, "{sql}\n{text}");
    }
}

/// A table that exists isn't changed, and the command doesn't pretend that it were. What is missing
/// beside it is created all the same.
#[test]
fn what_can_not_be_repaired_is_told_and_the_rest_is_created() {
    let place = Place::new();
    place.succeed(&["--sqlite", "inbox.db"]);
    place.execute(
        "inbox.db",
        "drop index nimbus_inbox_created_at; alter table nimbus_inbox add column note text",
    );
    let text = place.fail(&["--sqlite", "inbox.db"]);
    let expected = "\
inbox.db: created index nimbus_inbox_created_at
inbox.db: inbox not as needed
  table nimbus_inbox: column note is there, should not be
This command can't repair that. Tables that exist are never changed: correct them by hand, or give \
another file; --dry-run prints the statements.
";
    assert_eq!(text, expected);

    place.execute("other.db", "create table nimbus_session (id integer)");
    let text = place.fail(&["--sessions", "other.db"]);
    assert!(
        text.contains("created table nimbus_session_parked"),
        "{text}"
    );
    assert!(text.contains("table nimbus_session: "), "{text}");

    // The index can't be created, and all the same the table comes with its first rows.
    place.succeed(&["--embedded", "queue.db"]);
    place.execute(
        "queue.db",
        "drop table nimbus_queue; drop index nimbus_queue_lane_free;
         alter table nimbus_queue_lane rename column head_due_at to due_at",
    );
    let text = place.fail(&["--embedded", "queue.db"]);
    assert!(text.contains("created table nimbus_queue\n"), "{text}");
    let queues = Connection::open(place.path("queue.db"))
        .and_then(|file| {
            file.query_row("select count(*) from nimbus_queue", (), |row| {
                row.get::<_, i64>(0)
            })
        })
        .expect("readable");
    assert!(queues > 0, "the resolver's queue is not there");
}

#[test]
fn a_missing_index_is_created() {
    let place = Place::new();
    place.succeed(&["--sqlite", "inbox.db"]);
    place.execute("inbox.db", "drop index nimbus_inbox_created_at");
    let text = place.fail(&["--sqlite", "inbox.db", "--check"]);
    assert!(text.contains("without --check to create them"), "{text}");
    let text = place.succeed(&["--sqlite", "inbox.db"]);
    let expected = "inbox.db: created index nimbus_inbox_created_at\ninbox.db: inbox as needed\n";
    assert_eq!(text, expected);
    place.succeed(&["--sqlite", "inbox.db", "--check"]);
}

#[test]
fn an_error_says_each_thing_once() {
    let place = Place::new();
    fs::write(place.path("photo.jpg"), [0xff_u8; 5_000]).expect("writable");
    fs::create_dir(place.path("folder")).expect("writable");
    for arguments in [
        &["--sqlite", "absent/inbox.db"][..],
        &["--embedded", "absent/inbox.db"],
        &["--sqlite", "photo.jpg"],
        &["--sqlite", "folder"],
        &["--check", "--sqlite", "photo.jpg"],
        &["--check", "--sqlite", "folder"],
    ] {
        let text = place.fail(arguments);
        assert!(!text.contains("Error code"), "{text}");
        let file = arguments.last().expect("a path");
        assert_eq!(text.matches(file).count(), 1, "{text}");
        for once in ["be opened", "database file", "is not a", "directory;"] {
            assert!(text.matches(once).count() <= 1, "{text}");
        }
    }
}

/// INB-28
#[test]
fn the_inbox_can_have_another_table() {
    let place = Place::new();
    let named = ["--sqlite", "inbox.db", "--table", "billing_inbox"];
    place.succeed(&named);
    place.succeed(&[&named[..], &["--check"]].concat());
    let text = place.fail(&["--check", "--sqlite", "inbox.db"]);
    assert!(text.contains("table nimbus_inbox: missing"), "{text}");

    let text = place.fail(&["--sqlite", "inbox.db", "--table", "a\"b"]);
    assert!(
        text.contains("can't be the name of an inbox table"),
        "{text}"
    );
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let place = Place::new();
    fs::write(place.path("photo.jpg"), [0xff_u8; 5_000]).expect("writable");
    for flag in ["--sqlite", "--embedded"] {
        let text = place.fail(&[flag, "photo.jpg"]);
        assert!(text.contains("not a SQLite database"), "{text}");
        let text = place.fail(&["--check", flag, "photo.jpg"]);
        assert!(text.contains("photo.jpg can't be checked"), "{text}");
    }
    let text = place.fail(&["--sqlite", "absent/inbox.db"]);
    assert!(text.contains("the directory exists"), "{text}");
    assert_eq!(place.files(), BTreeSet::from(["photo.jpg".to_owned()]));
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let place = Place::new();
    for arguments in [
        &[][..],
        &["--check"],
        &["--table", "x", "--embedded", "queue.db"],
        &["--check", "--dry-run", "--sqlite", "inbox.db"],
    ] {
        let output = place.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(place.files(), BTreeSet::new());
}
