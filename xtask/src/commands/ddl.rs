//! `cargo xtask ddl`: the offline scripts under deploy/.

use std::ffi::OsString;
use std::process::ExitCode;

use super::forward::{self, Profile};
use crate::workspace;

/// Write the SQL scripts under deploy/, or check that they match the code.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if a script differs from what the code would write.
    #[arg(long)]
    pub(crate) check: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let deploy = workspace::root().join("deploy").into_os_string();
    let mut forwarded: Vec<OsString> = vec!["ddl".into(), "--out".into(), deploy];
    if arguments.check {
        forwarded.push("--check".into());
    }
    forward::run("nimbus-provision", Profile::Dev, &forwarded)
}
