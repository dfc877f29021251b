//! The scripts, as `cargo xtask ddl` writes and checks them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn ddl(out: &Path, check: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nimbus-provision"));
    command.arg("ddl").arg("--out").arg(out);
    if check {
        command.arg("--check");
    }
    command.output().expect("the program runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_scripts_of_the_repository_match_the_code() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let output = ddl(&deploy, true);
    assert!(output.status.success(), "{}", stdout(&output));
}

#[test]
fn what_was_written_passes_the_check_and_what_was_changed_does_not() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    assert!(ddl(directory.path(), false).status.success());
    let output = ddl(directory.path(), true);
    assert!(output.status.success(), "{}", stdout(&output));

    let folder = directory.path().join("sqlite");
    let inbox = folder.join("inbox.sql");
    let script = fs::read_to_string(&inbox).expect("it was written");
    fs::write(&inbox, script.replacen("\n\n", "\n\nselect 1;\n", 1)).expect("writable");
    fs::remove_file(folder.join("sessions.sql")).expect("it was written");
    fs::write(folder.join("old.sql"), "").expect("writable");
    let output = ddl(directory.path(), true);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    for problem in [
        "inbox.sql differs from the code in line 3",
        "sessions.sql can't be read",
        "old.sql is no script of this version",
        "Run `cargo xtask ddl`",
    ] {
        assert!(text.contains(problem), "{text}");
    }
    assert!(!text.contains("embedded-queue.sql"), "{text}");
}

#[test]
fn a_check_writes_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = ddl(directory.path(), true);
    assert_eq!(output.status.code(), Some(1));
    let left = fs::read_dir(directory.path()).expect("readable");
    assert_eq!(left.count(), 0);
}
