//! `cargo xtask provision`: schema bootstrap for the selected providers.

use std::ffi::OsString;
use std::process::ExitCode;

use super::forward::{self, Profile};

/// Create or verify the schema of a provider.
///
/// All arguments go to the provisioning tool: `cargo xtask provision --help` lists them.
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
    forward::run("nimbus-provision", Profile::Dev, &arguments.arguments)
}
