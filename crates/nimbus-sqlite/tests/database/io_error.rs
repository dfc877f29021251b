//! A disk that fails in the middle of a commit: a limit on the size of files,
//! which the system reports as an I/O error.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use nimbus_sqlite::{Database, ErrorKind, OpenOptions, SqliteError};

use crate::child::{run_test, subject, this_program};
use crate::support::{HeldWriter, insert, insert_bytes, items, names, queue, queue_insert};

/// Beyond the limit, and small enough to be written by the commit and not before.
const TOO_LARGE: usize = 1024 * 1024;

#[tokio::test]
async fn an_io_error_in_a_commit_leaves_its_outcome_open() {
    if let Some(file) = subject() {
        return meet_the_limit(&file).await;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    // In blocks of 512 or 1,024 bytes; without the trap the signal would kill.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 512; exec \"$0\" \"$@\""])
        .arg(this_program());
    let test = "io_error::an_io_error_in_a_commit_leaves_its_outcome_open";
    let status = run_test(&mut shell, test, &directory.path().join("test.db")).status();
    assert!(status.expect("a shell").success());
}

async fn meet_the_limit(file: &Path) {
    let database = Database::open(file, OpenOptions::default())
        .await
        .expect("a fresh file");
    database.ensure_schema(items()).await.expect("a fresh file");
    database
        .write(|tx| insert(tx, "earlier"))
        .await
        .expect("below the limit");

    // Nobody knows what reached the disk, so that nobody's write is run again.
    let held = HeldWriter::new(&database);
    let neighbour = queue_insert(&database, "neighbour");
    let writing = database.clone();
    let large = queue(async move {
        writing
            .write(|tx| insert_bytes(tx, "large", TOO_LARGE))
            .await
    });
    held.release().await;
    assert_open(neighbour.await.expect_err("it shared the commit"));
    assert_open(large.await.expect_err("beyond the limit"));

    let tx = database.transaction().await.expect("nobody else");
    tx.call(|tx| insert_bytes(tx, "large", TOO_LARGE))
        .await
        .expect("not written yet");
    assert_open(tx.commit().await.expect_err("beyond the limit"));

    assert_eq!(
        database.read(names).await.expect("still readable"),
        ["earlier"]
    );
    database
        .write(|tx| insert(tx, "later"))
        .await
        .expect("below the limit");
}

fn assert_open(error: SqliteError) {
    assert_eq!(error.kind(), ErrorKind::Transient);
    assert!(error.outcome_unknown(), "{error:?}");
}
