//! `cargo xtask bench`: the measurements of docs/benchmarks.md.

use std::ffi::OsString;
use std::process::ExitCode;

use super::forward::{self, Profile};

/// Measure, and print ratios against a baseline of the same run.
///
/// All arguments go to the benchmarks: `cargo xtask bench --help` lists them.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Passed through unchanged.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    forward::run("nimbus-bench", Profile::Release, &arguments.arguments)
}
