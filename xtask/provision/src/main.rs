//! `cargo xtask provision` and `cargo xtask ddl`: the tables of the providers, made, checked and
//! written down.

mod commands;
mod failure;
mod postgres;
mod rabbitmq;
mod schema;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{ddl, provision};

/// Create or verify the schema of a provider.
///
/// Whatever exists is left as it is, so it can be run again. Without automatic creation this is
/// what has to be run before the first start.
#[derive(Parser)]
#[command(
    name = "provision",
    bin_name = "cargo xtask provision",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct CommandLine {
    #[command(flatten)]
    provision: provision::Arguments,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Ddl(ddl::Arguments),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let line = CommandLine::parse();
    let outcome = match line.command {
        Some(Command::Ddl(arguments)) => ddl::run(&arguments),
        None => provision::run(&line.provision).await,
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {}", failure::text(&error));
        ExitCode::FAILURE
    })
}
