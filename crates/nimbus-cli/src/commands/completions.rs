use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::CommandLine;
use crate::failure::Failure;
use crate::output::print;

/// Print the completions of a shell, such as `source <(nimbus completions bash)`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut command = CommandLine::command();
    // Into memory first: the generator panics where its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "nimbus", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
