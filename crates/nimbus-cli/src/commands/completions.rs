use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::CommandLine;

/// Print the completions of a shell, such as `source <(nimbus completions bash)`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let mut command = CommandLine::command();
    clap_complete::generate(
        arguments.shell,
        &mut command,
        "nimbus",
        &mut std::io::stdout(),
    );
    ExitCode::SUCCESS
}
