//! Tests that run themselves in a process of its own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const SUBJECT: &str = "NIMBUS_SQLITE_TEST_SUBJECT";

/// The path that the parent passed, in a child.
pub(crate) fn subject() -> Option<PathBuf> {
    env::var_os(SUBJECT).map(PathBuf::from)
}

pub(crate) fn this_program() -> PathBuf {
    env::current_exe().expect("a test is a program")
}

/// Makes `command`, which starts this program, run `test` alone.
pub(crate) fn run_test<'a>(
    command: &'a mut Command,
    test: &str,
    subject: &Path,
) -> &'a mut Command {
    command
        .args(["--exact", "--nocapture", test])
        .env(SUBJECT, subject)
}
