//! `cargo xtask demo`: the billing subscriber that survives a hard kill.

use std::ffi::OsString;
use std::process::ExitCode;

use super::forward::{self, Profile};

/// Run the main job on one machine through redeliveries, failures and hard kills, then with an
/// operator who has the `nimbus` tool.
///
/// All arguments go to the demo itself: `cargo xtask demo --help` lists them.
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
    // The demo runs it, as an operator does.
    forward::build("nimbus-cli", Profile::Dev)?;
    forward::run("nimbus-demo", Profile::Dev, &arguments.arguments)
}
