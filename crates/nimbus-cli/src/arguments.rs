//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{completions, events, handoff, inbox, resolver, resubmit, sessions, skip};
use crate::output::Output;

/// Look at events, sessions and the inbox, and settle what waits for an operator.
///
/// It reads the same configuration files as the subscribers and may run beside them.
#[derive(Parser)]
#[command(name = "nimbus", version, after_help = AFTER_HELP)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) place: PlaceArguments,

    /// Print JSON instead of a table.
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 nothing found, 2 wrong usage, 3 the configuration has to be changed,
4 something does not answer (try again), 5 refused.";

/// Which endpoints a command works on.
#[derive(Args)]
pub(crate) struct PlaceArguments {
    /// Configuration of an endpoint; may be given several times. Unless given, the files that
    /// NIMBUS_CONFIG names, separated as in PATH.
    #[arg(long = "config", short = 'c', value_name = "FILE", global = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Only this one of the configured endpoints.
    #[arg(long, short = 'e', value_name = "NAME", global = true)]
    pub(crate) endpoint: Option<String>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Keep what subscribers report.
    #[command(subcommand)]
    Resolver(resolver::Command),
    /// See what has become of events.
    #[command(subcommand)]
    Events(events::Command),
    /// See which sessions are blocked, and have what waits in them handled.
    #[command(subcommand)]
    Sessions(sessions::Command),
    Resubmit(resubmit::Arguments),
    Skip(skip::Arguments),
    /// Say how the external job of an event ended.
    #[command(subcommand)]
    Handoff(handoff::Command),
    /// See which messages are recorded as done.
    #[command(subcommand)]
    Inbox(inbox::Command),
    Completions(completions::Arguments),
}

impl CommandLine {
    pub(crate) fn output(&self) -> Output {
        if self.json {
            Output::Json
        } else {
            Output::Table
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        CommandLine::command().debug_assert();
    }
}
