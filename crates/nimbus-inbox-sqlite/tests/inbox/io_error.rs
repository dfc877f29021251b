//! A disk that fails in the middle of a commit: a limit on the size of files, which the system
//! reports as an I/O error.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use nimbus_inbox_core::{Error, ErrorKind, Inbox, InboxKey, InboxStore, Recorded, Transactional};
use nimbus_inbox_sqlite::SqliteInbox;
use nimbus_inbox_testing::key;

use crate::support::{directory, keys, place_of_parent, recorded, this_program, told_to_run};

/// Beyond the limit, and small enough to be written by the commit and not before.
const TOO_MANY: usize = 2_000;

/// INB-26: it is neither success nor failure, and recording again is right.
#[tokio::test]
async fn an_io_error_in_a_commit_leaves_its_outcome_open() {
    if let Some(path) = place_of_parent() {
        return meet_the_limit(&path).await;
    }
    let directory = directory();
    // In blocks of 512 or 1,024 bytes; without the trap the signal would kill.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 512; exec \"$0\" \"$@\""])
        .arg(this_program());
    let test = "io_error::an_io_error_in_a_commit_leaves_its_outcome_open";
    told_to_run(&mut shell, test, &directory.path().join("inbox.db"));
    assert!(shell.status().expect("a shell").success());
}

async fn meet_the_limit(path: &Path) {
    let inbox = SqliteInbox::open(path).await.expect("a fresh file");
    let earlier = keys("earlier", 3);
    inbox.record(&earlier).await.expect("below the limit");

    let filler = "x".repeat(480);
    let large: Vec<InboxKey> = (0..TOO_MANY)
        .map(|number| key("Billing", &format!("{filler}-{number}")))
        .collect();
    assert_open(inbox.record(&large).await.expect_err("beyond the limit"));

    let database = inbox.database();
    let mut lease = inbox.lease(database).await.expect("its own file");
    let mut tx = inbox.begin(&mut lease).await.expect("nobody else");
    Transactional::record_in(&inbox, &mut tx, &large)
        .await
        .expect("not written yet");
    assert_open(inbox.commit(tx).await.expect_err("beyond the limit"));

    // The message is left for another delivery, which finds things as they are.
    let transactional = Inbox::new("Billing", inbox.clone()).expect("usable");
    let outcome = transactional
        .process_in(database, "later", async |_| anyhow::Ok(()))
        .await;
    assert!(!outcome.expect("below the limit").is_duplicate());
    assert_eq!(recorded(&inbox, &earlier).await, earlier.len());
    let again = inbox.record(&large[..3]).await.expect("below the limit");
    assert_eq!(again, [Recorded::Now; 3]);
}

fn assert_open(error: Error) {
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error:?}");
    assert!(error.is_transient());
    let text = error.to_string();
    assert!(text.contains("it may have happened all the same"), "{text}");
}
