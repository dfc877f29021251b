//! Files that can't be used, and what the person on call is told.

use std::fs;
use std::path::Path;

use nimbus_inbox_core::{InboxStore, Operation};
use nimbus_inbox_sqlite::SqliteInbox;
use nimbus_inbox_sqlite::rusqlite::Connection;

use crate::support::{Fixture, child, directory, keys, place_of_parent, this_program, told};

async fn refusal(path: &Path) -> String {
    let outcome = SqliteInbox::open(path).await;
    if let Err(error) = &outcome {
        assert_eq!(error.operation(), Operation::Open);
    }
    let text = told(outcome);
    assert!(text.contains(&path.display().to_string()), "{text}");
    text
}

/// INB-26
#[tokio::test]
async fn a_photo_is_refused_and_left_untouched() {
    let directory = directory();
    let path = directory.path().join("photo.jpg");
    let mut photo = vec![0xff, 0xd8, 0xff, 0xe0, 0, 16, b'J', b'F', b'I', b'F', 0];
    photo.resize(20_000, 0x5a);
    fs::write(&path, &photo).expect("writable");
    let text = refusal(&path).await;
    assert!(text.contains("not a SQLite database"), "{text}");
    assert_eq!(fs::read(&path).expect("readable"), photo);
}

/// INB-26
#[tokio::test]
async fn a_place_that_takes_no_file_is_refused() {
    let directory = directory();
    let absent = directory.path().join("absent").join("inbox.db");
    let text = refusal(&absent).await;
    assert!(text.contains("the directory exists"), "{text}");
    let text = refusal(directory.path()).await;
    assert!(text.contains("names a regular file"), "{text}");
    #[cfg(target_os = "linux")]
    refusal(Path::new("/proc/inbox.db")).await;
    told(SqliteInbox::open(":memory:").await);
}

/// INB-26
#[tokio::test]
async fn a_file_of_another_application_is_refused_and_left_untouched() {
    let directory = directory();
    let path = directory.path().join("photos.db");
    Connection::open(&path)
        .and_then(|other| {
            other.execute_batch("PRAGMA application_id = 77; create table photo (name text)")
        })
        .expect("a fresh file");
    let before = fs::read(&path).expect("readable");
    let text = refusal(&path).await;
    assert!(text.contains("another application"), "{text}");
    assert_eq!(fs::read(&path).expect("readable"), before);
}

/// INB-26: a damaged page is met when it is read, not when the file is opened.
#[tokio::test]
async fn a_damaged_file_is_told_by_the_call_that_meets_the_damage() {
    let fixture = Fixture::new().await;
    let all = keys("order", 2_000);
    fixture.inbox.record(&all).await.expect("records");
    fixture.inbox.database().close().await;
    let mut bytes = fs::read(fixture.path()).expect("readable");
    // The first pages hold the schema.
    bytes[8 * 4096..].fill(0xaa);
    fs::write(fixture.path(), &bytes).expect("writable");

    let inbox = SqliteInbox::open(fixture.path())
        .await
        .expect("the damage isn't met yet");
    let text = told(inbox.check(&all).await);
    assert!(text.contains("inbox check (sqlite)"), "{text}");
    assert!(text.contains("restore a backup"), "{text}");
    let text = told(inbox.record(&keys("new", 2_000)).await);
    assert!(text.contains("restore a backup"), "{text}");
}

/// INB-26: permissions don't stop root, so that the child gives root up.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_may_not_be_written_is_refused() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65_534;

    if let Some(path) = place_of_parent() {
        let text = refusal(&path).await;
        assert!(text.contains("check the permissions"), "{text}");
        return;
    }
    let fixture = Fixture::new().await;
    let all = keys("order", 3);
    fixture.inbox.record(&all).await.expect("records");
    fixture.inbox.database().close().await;
    let restrict =
        |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
    restrict(&fixture.path(), 0o444);
    restrict(fixture.directory.path(), 0o777);
    // Where the program was built may be closed to others.
    let program = fixture.directory.path().join("test-program");
    fs::copy(this_program(), &program).expect("writable");
    restrict(&program, 0o755);

    let test = "files::a_file_that_may_not_be_written_is_refused";
    let mut command = child(&program, test, &fixture.path());
    command.current_dir("/");
    if fs::File::options()
        .append(true)
        .open(fixture.path())
        .is_ok()
    {
        command.uid(NOBODY).gid(NOBODY);
    }
    assert!(command.status().expect("a child").success());
}

/// A program that ends closes the file; the message is left for another.
#[tokio::test]
async fn a_closed_file_leaves_the_message_for_another_delivery() {
    let fixture = Fixture::new().await;
    let all = keys("order", 1);
    fixture.inbox.record(&all).await.expect("a record");
    fixture.inbox.database().close().await;
    for outcome in [
        fixture.inbox.check(&all).await.map(drop),
        fixture.inbox.record(&all).await.map(drop),
        fixture.inbox.verify().await,
    ] {
        let error = outcome.expect_err("it is closed");
        assert!(error.is_transient(), "{error:?}");
    }
}
