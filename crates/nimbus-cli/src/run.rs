use std::io::{IsTerminal, stderr};
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::arguments::{Command, CommandLine};
use crate::commands;
use crate::failure::Failure;
use crate::place::Place;
use crate::providers::Missing;

/// Runs the command line of this process and says how it went, as an exit code.
///
/// # Cancel safety
///
/// Dropped, a command may have been sent or not.
pub async fn run() -> ExitCode {
    let line = CommandLine::parse();
    let level = match line.command {
        Command::Resolver(_) => "info",
        _ => "error",
    };
    let filter = EnvFilter::try_from_env("NIMBUS_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal())
        .init();
    match execute(line).await {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.exit_code()
        }
    }
}

async fn execute(line: CommandLine) -> Result<ExitCode, Failure> {
    if let Command::Completions(arguments) = &line.command {
        return commands::completions::run(arguments);
    }
    let missing = match line.command {
        Command::Resolver(_) => Missing::Made,
        _ => Missing::Refused,
    };
    let place = Place::load(&line.place, missing)?;
    let output = line.output();
    match line.command {
        Command::Resolver(command) => commands::resolver::run(&place, command).await,
        Command::Events(command) => commands::events::run(&place, output, command).await,
        Command::Sessions(command) => commands::sessions::run(&place, output, command).await,
        Command::Resubmit(arguments) => commands::resubmit::run(&place, output, arguments).await,
        Command::Skip(arguments) => commands::skip::run(&place, output, arguments).await,
        Command::Handoff(command) => commands::handoff::run(&place, output, command).await,
        Command::Inbox(command) => commands::inbox::run(&place, output, command).await,
        Command::Completions(_) => Ok(ExitCode::SUCCESS),
    }
}
