//! The command line.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

/// Name of the hidden subcommand that runs the consumer.
pub(crate) const CONSUME: &str = "consume";

/// Show the main job at work: a billing subscriber that survives a hard kill.
///
/// Publishes a file of order events to an embedded queue and starts a consumer for them: a process
/// of its own, with an inbox in SQLite. The run then makes its life hard. It sends some events
/// twice, lets some handlers fail at first, and kills the consumer: once after a handler has done
/// its work and before the inbox has recorded it, once after the record and before the queue knows
/// that the message is done, and once at any moment. It accounts for every message, from what
/// billing wrote to its ledger and from what the resolver was told.
///
/// A second act is about two orders of its own. An event that fails whenever it is tried blocks its
/// order, and another waits for a bank. An operator looks with the `nimbus` tool, mends the cause,
/// has the event handled again, and reports that the bank has paid.
///
/// Exits with 0 when nothing was lost, handled out of order or left unexplained, with 1 when
/// something was, or when the run could not be finished.
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask demo",
    bin_name = "cargo xtask demo",
    version,
    verbatim_doc_comment,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

impl Cli {
    /// The command line of this process; ends it when that makes no sense.
    pub(crate) fn of_process() -> Self {
        let line = Self::parse();
        if let Some(file) = &line.run.misplaced {
            let hint = format!(
                "unexpected argument {file:?}; a file of events is named with `--events {}`",
                file.display()
            );
            Self::command()
                .error(ErrorKind::UnknownArgument, hint)
                .exit();
        }
        line
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Consume your own events instead of the demo's, one JSON object a line.
    ///
    /// Each is either an order event (messageId, sessionId, eventType, occurredAt, data) or a
    /// CloudEvent 1.0 (id, source, type, data). Of a CloudEvent, source and id together are the
    /// message id, and sessionid or else subject is the session. A line that is neither is reported
    /// with its number and left out. The handlers take OrderPlaced, PaymentFailed, PaymentCaptured,
    /// OrderShipped, OrderDelivered, OrderCancelled and RefundIssued; other types end as
    /// unsupported.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(crate) events: Option<PathBuf>,

    /// Choose what is repeated, fails and is killed; the same number gives the same plan.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Print one JSON document instead of the table; progress goes to standard error.
    #[arg(long)]
    pub(crate) json: bool,

    /// Keep the databases and the consumer's log, and say where they are.
    #[arg(long)]
    pub(crate) keep: bool,

    /// A file that was named without its option; taken only to say so.
    #[arg(hide = true)]
    misplaced: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run as the consumer that the demo starts and kills.
    #[command(name = CONSUME, hide = true)]
    Consume {
        /// Where its instructions and the databases are.
        directory: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_tells_nothing_of_the_consumer() {
        let help = Cli::command().render_long_help().to_string();
        assert!(help.contains("--events <FILE>"), "{help}");
        assert!(!help.contains("Commands:"), "{help}");
    }
}
