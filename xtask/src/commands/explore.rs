//! `cargo xtask explore`: crash-point exploration of the subscriber.

use std::ffi::OsString;
use std::process::ExitCode;

use super::forward::{self, Profile};

/// Run the subscriber through every schedule of small worlds, with crashes anywhere.
///
/// All arguments go to the explorer itself: `cargo xtask explore --help` lists them.
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
    // The test build of these crates is optimised, so that nothing is built a second time.
    forward::run("nimbus-explore", Profile::Dev, &arguments.arguments)
}
