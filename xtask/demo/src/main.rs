//! `cargo xtask demo`: a billing subscriber that survives a hard kill.

mod account;
mod billing;
mod cli;
mod consumer;
mod demo;
mod directory;
mod events;
mod ledger;
mod operator;
mod plan;
mod queue;
mod report;
mod signal;
mod supervise;

use std::process::ExitCode;

use cli::{Cli, Command};

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let Cli { command, run } = Cli::of_process();
    let ended = match command {
        Some(Command::Consume { directory }) => {
            consumer::run(&directory).await.map(|()| ExitCode::SUCCESS)
        }
        None => demo::run(&run).await,
    };
    ended.unwrap_or_else(|error| {
        // Without a backtrace: what a user can act on is in the text.
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
