//! An inbox in a directory of its own, its peers, and children of this program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nimbus_inbox_core::{Error, ErrorKind, InboxKey, InboxStore};
use nimbus_inbox_sqlite::rusqlite::Connection;
use nimbus_inbox_sqlite::{SqliteInbox, SqliteInboxOptions};
use nimbus_inbox_testing::key;
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) inbox: SqliteInbox,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(SqliteInboxOptions::default()).await
    }

    pub(crate) async fn with(options: SqliteInboxOptions) -> Self {
        let directory = directory();
        let inbox = SqliteInbox::open_with(directory.path().join("inbox.db"), options)
            .await
            .expect("a fresh file");
        Self { directory, inbox }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("inbox.db")
    }

    /// The same records, as another process sees them.
    pub(crate) async fn elsewhere(&self) -> SqliteInbox {
        SqliteInbox::open(self.path()).await.expect("the same file")
    }

    /// A connection of somebody else.
    pub(crate) fn stranger(&self) -> Connection {
        Connection::open(self.path()).expect("the file exists")
    }
}

pub(crate) fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

pub(crate) fn keys(prefix: &str, count: usize) -> Vec<InboxKey> {
    (0..count)
        .map(|number| key("Billing", &format!("{prefix}-{number}")))
        .collect()
}

/// How many of `keys` are recorded.
pub(crate) async fn recorded(inbox: &SqliteInbox, keys: &[InboxKey]) -> usize {
    let found = inbox.check(keys).await.expect("a check");
    found.iter().flatten().count()
}

/// Asserts that a person has to act, and reads what they are told.
pub(crate) fn told<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    let error = outcome.expect_err("it can't work");
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error:?}");
    assert_eq!(error.provider(), Some("sqlite"));
    error.to_string()
}

const PLACE: &str = "NIMBUS_INBOX_SQLITE_TEST_PLACE";

/// What the parent handed to this program, in a child.
pub(crate) fn place_of_parent() -> Option<PathBuf> {
    env::var_os(PLACE).map(PathBuf::from)
}

/// This program again, to run `test` with `place`.
pub(crate) fn child(program: &Path, test: &str, place: &Path) -> Command {
    let mut command = Command::new(program);
    told_to_run(&mut command, test, place);
    command
}

/// Adds what makes this program run `test` with `place`. Its report of one test would be counted
/// beside those of the parent; what went wrong is told on the error output.
pub(crate) fn told_to_run(command: &mut Command, test: &str, place: &Path) {
    command
        .args(["--exact", "--nocapture", test])
        .env(PLACE, place)
        .stdout(Stdio::null());
}

pub(crate) fn this_program() -> PathBuf {
    env::current_exe().expect("a test is a program")
}
