//! Files that can't be used, and what is said about them.

use std::fs;
use std::path::Path;

use nimbus_sqlite::rusqlite::Connection;
use nimbus_sqlite::{Database, ErrorKind, OpenOptions, SqliteError};

use crate::support::{Fixture, insert_bytes, items};

async fn refusal(path: &Path) -> SqliteError {
    let error = Database::open(path, OpenOptions::default())
        .await
        .expect_err("not a usable file");
    assert!(
        error.is_configuration() && !error.is_transient(),
        "{error:?}"
    );
    assert!(
        error.to_string().contains(&path.display().to_string()),
        "the file is named: {error}"
    );
    error
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_untouched() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut photo = vec![
        0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10, b'J', b'F', b'I', b'F', 0x00,
    ];
    photo.resize(20_000, 0x5a);
    for (name, content) in [("photo.jpg", photo), ("note.txt", b"buy milk".to_vec())] {
        let path = directory.path().join(name);
        fs::write(&path, &content).expect("writable");
        assert_eq!(
            refusal(&path).await.kind(),
            ErrorKind::NotADatabase,
            "{name}"
        );
        assert_eq!(fs::read(&path).expect("readable"), content, "{name}");
    }
    assert_eq!(
        fs::read_dir(directory.path()).expect("readable").count(),
        2,
        "nothing was left beside them"
    );
}

#[tokio::test]
async fn a_path_that_can_not_be_a_file_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    assert_eq!(
        refusal(directory.path()).await.kind(),
        ErrorKind::CannotOpen
    );
    assert_eq!(
        refusal(&directory.path().join("missing").join("test.db"))
            .await
            .kind(),
        ErrorKind::CannotOpen
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_system_that_takes_no_files_is_refused() {
    assert_eq!(
        refusal(Path::new("/proc/nimbus.db")).await.kind(),
        ErrorKind::CannotOpen
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_device_or_a_socket_is_refused_and_nothing_is_left_beside_it() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let socket = directory.path().join("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).expect("a short path");
    for path in [Path::new("/dev/null"), &socket] {
        assert_eq!(
            refusal(path).await.kind(),
            ErrorKind::CannotOpen,
            "{}",
            path.display()
        );
    }
    assert!(!Path::new("/dev/null-journal").exists());
    assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
}

#[tokio::test]
async fn in_memory_databases_are_refused() {
    let error = refusal(Path::new(":memory:")).await;
    assert_eq!(error.kind(), ErrorKind::InvalidPath);
    assert_eq!(refusal(Path::new("")).await.kind(), ErrorKind::InvalidPath);
}

fn application_id(path: &Path) -> i64 {
    Connection::open(path)
        .and_then(|connection| connection.query_row("PRAGMA application_id", (), |row| row.get(0)))
        .expect("a database")
}

#[tokio::test]
async fn a_file_of_another_application_is_left_untouched() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("photos.db");
    Connection::open(&path)
        .and_then(|other| {
            other.execute_batch("PRAGMA application_id = 77; create table photo (name text)")
        })
        .expect("a fresh file");
    let before = fs::read(&path).expect("readable");
    let error = refusal(&path).await;
    assert_eq!(error.kind(), ErrorKind::ForeignFile);
    assert!(error.to_string().contains("0x0000004d"), "{error}");
    assert_eq!(fs::read(&path).expect("readable"), before);
}

#[tokio::test]
async fn a_fresh_file_is_marked_and_a_users_own_is_not() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (fresh, own) = (
        directory.path().join("fresh.db"),
        directory.path().join("own.db"),
    );
    Connection::open(&own)
        .and_then(|owner| owner.execute_batch("create table invoice (number integer)"))
        .expect("a fresh file");
    for path in [&fresh, &own] {
        for _ in 0..2 {
            let database = Database::open(path, OpenOptions::default())
                .await
                .expect("a good file");
            database.ensure_schema(items()).await.expect("a good file");
            database.close().await;
        }
    }
    assert_eq!(application_id(&fresh), 0x4e49_4d42);
    assert_eq!(application_id(&own), 0);
}

#[tokio::test]
async fn a_damaged_header_is_told_from_a_damaged_page() {
    let fixture = Fixture::new().await;
    for index in 0..200 {
        fixture
            .database
            .write(move |tx| insert_bytes(tx, &index.to_string(), 500))
            .await
            .expect("a new name");
    }
    fixture.database.close().await;
    let sound = fs::read(fixture.path()).expect("readable");

    let mut damaged = sound.clone();
    damaged[..16].fill(0xaa);
    fs::write(fixture.path(), &damaged).expect("writable");
    assert_eq!(
        refusal(&fixture.path()).await.kind(),
        ErrorKind::NotADatabase
    );

    let mut damaged = sound.clone();
    damaged[100..4096].fill(0xaa);
    fs::write(fixture.path(), &damaged).expect("writable");
    assert_eq!(refusal(&fixture.path()).await.kind(), ErrorKind::Corrupt);

    let mut damaged = sound;
    damaged[3 * 4096..].fill(0xaa);
    fs::write(fixture.path(), &damaged).expect("writable");
    let database = Database::open(fixture.path(), OpenOptions::default())
        .await
        .expect("the damage isn't met yet");
    let error = database
        .read(|tx| {
            tx.query_row("select sum(length(payload)) from item", (), |row| {
                row.get::<_, i64>(0)
            })
        })
        .await
        .expect_err("now it is");
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error.is_configuration() && error.to_string().contains("restore a backup"),
        "{error}"
    );
}

#[tokio::test]
async fn a_file_that_is_cut_short_is_corrupt() {
    let fixture = Fixture::new().await;
    for index in 0..200 {
        fixture
            .database
            .write(move |tx| insert_bytes(tx, &index.to_string(), 500))
            .await
            .expect("a new name");
    }
    fixture.database.close().await;
    let sound = fs::read(fixture.path()).expect("readable");
    fs::write(fixture.path(), &sound[..3 * 4096]).expect("writable");
    let error = match Database::open(fixture.path(), OpenOptions::default()).await {
        Err(error) => error,
        Ok(database) => database
            .read(|tx| {
                tx.query_row("select sum(length(payload)) from item", (), |row| {
                    row.get::<_, i64>(0)
                })
            })
            .await
            .expect_err("most of it is gone"),
    };
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}
