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
    let both = ["--sqlite", "inbox.db", "--embedded", "queue.db"];
    let expected = "inbox.db: inbox and sessions as needed\nqueue.db: embedded-queue as needed\n";
    for _ in 0..2 {
        assert_eq!(place.succeed(&both), expected);
        let check = [&both[..], &["--check"]].concat();
        assert_eq!(place.succeed(&check), expected);
    }
}

/// One file may hold everything.
#[test]
fn inbox_and_queue_can_share_a_file() {
    let place = Place::new();
    let both = ["--sqlite", "all.db", "--embedded", "all.db"];
    place.succeed(&both);
    place.succeed(&[&both[..], &["--check"]].concat());
}

#[test]
fn a_dry_run_prints_the_statements_and_touches_nothing() {
    let place = Place::new();
    let arguments = [
        "--dry-run",
        "--sqlite",
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
    let check = ["--check", "--sqlite", "inbox.db", "--embedded", "queue.db"];
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
    let text = place.fail(&["--check", "--sqlite", "empty.db"]);
    let expected = "\
empty.db: inbox and sessions not as needed
  table nimbus_inbox: missing
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
        place.succeed(&["--sqlite", "inbox.db", "--embedded", "inbox.db"]);
        place.execute("inbox.db", sql);
        place.fail(&["--check", "--sqlite", "inbox.db", "--embedded", "inbox.db"])
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

/// A table that exists isn't changed, and the command doesn't pretend that it were.
#[test]
fn creating_beside_a_table_of_another_shape_fails() {
    let place = Place::new();
    place.execute("inbox.db", "create table nimbus_session (id integer)");
    let text = place.fail(&["--sqlite", "inbox.db"]);
    assert!(
        text.contains("Tables that exist are never changed"),
        "{text}"
    );
    assert!(
        !text.contains("nimbus_inbox"),
        "that one was created: {text}"
    );
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
