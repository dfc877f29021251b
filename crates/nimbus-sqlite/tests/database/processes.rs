//! Several processes on one file, and one that may not write it.

use std::path::Path;
use std::process::{Child, Command};

use nimbus_sqlite::{Database, OpenOptions};

use crate::child::{run_test, subject, this_program};
use crate::support::{insert, items};

const WRITES: usize = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_processes_make_and_write_one_file() {
    if let Some(file) = subject() {
        return write_from_a_process(&file).await;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("test.db");
    let children: Vec<Child> = (0..6)
        .map(|_| {
            run_test(
                &mut Command::new(this_program()),
                "processes::several_processes_make_and_write_one_file",
                &path,
            )
            .spawn()
            .expect("a child")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("a child").success());
    }
    let database = Database::open(&path, OpenOptions::default())
        .await
        .expect("an intact file");
    let count: i64 = database
        .read(|tx| tx.query_row("select count(*) from item", (), |row| row.get(0)))
        .await
        .expect("the table exists");
    assert_eq!(usize::try_from(count), Ok(6 * WRITES));
}

async fn write_from_a_process(file: &Path) {
    let database = Database::open(file, OpenOptions::default())
        .await
        .expect("everyone gets in");
    database
        .ensure_schema(items())
        .await
        .expect("everyone may make the tables");
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..WRITES {
        let (database, name) = (database.clone(), format!("{}-{index}", std::process::id()));
        tasks.spawn(async move {
            if index % 2 == 0 {
                return database.write(move |tx| insert(tx, &name)).await;
            }
            let tx = database.transaction().await?;
            let inserted = tx.call(move |tx| insert(tx, &name)).await?;
            tx.commit().await.map(|()| inserted)
        });
    }
    for outcome in tasks.join_all().await {
        outcome.expect("its turn comes");
    }
    database.close().await;
}

/// Permissions don't stop root, so that the child gives root up.
#[cfg(unix)]
#[tokio::test]
async fn a_file_or_directory_that_may_not_be_written_is_refused() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65_534;

    if let Some(directory) = subject() {
        return meet_refusals(&directory).await;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let restrict =
        |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
    let (file, closed) = (
        directory.path().join("read-only.db"),
        directory.path().join("closed"),
    );
    fs::create_dir(&closed).expect("writable");
    for path in [file.clone(), closed.join("test.db")] {
        Database::open(path, OpenOptions::default())
            .await
            .expect("a fresh file")
            .close()
            .await;
    }
    restrict(&file, 0o444);
    restrict(&closed.join("test.db"), 0o666);
    restrict(&closed, 0o555);
    restrict(directory.path(), 0o777);

    // Where the program was built may be closed to others.
    let program = directory.path().join("test-program");
    fs::copy(this_program(), &program).expect("writable");
    restrict(&program, 0o755);
    let test = "processes::a_file_or_directory_that_may_not_be_written_is_refused";
    let mut command = Command::new(&program);
    run_test(&mut command, test, directory.path()).current_dir("/");
    if fs::File::options().append(true).open(&file).is_ok() {
        command.uid(NOBODY).gid(NOBODY);
    }
    assert!(command.status().expect("a child").success());
    restrict(&closed, 0o755);
}

#[cfg(unix)]
async fn meet_refusals(directory: &Path) {
    use nimbus_sqlite::ErrorKind;

    for (path, expected) in [
        ("read-only.db", ErrorKind::ReadOnly),
        // The log can't be made beside it.
        ("closed/test.db", ErrorKind::ReadOnly),
        ("closed/absent.db", ErrorKind::CannotOpen),
    ] {
        let error = Database::open(directory.join(path), OpenOptions::default())
            .await
            .expect_err(path);
        assert_eq!(error.kind(), expected, "{path}: {error}");
        assert!(error.is_configuration(), "{path}");
    }
}
