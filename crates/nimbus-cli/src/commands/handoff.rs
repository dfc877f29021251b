use std::process::ExitCode;

use clap::{Args, Subcommand};
use nimbus_messaging::MessageType;
use nimbus_resolver::EventState;

use super::sent::{self, Sent};
use crate::failure::Failure;
use crate::output::Output;
use crate::place::Place;
use crate::target::{Target, TargetArguments};

#[derive(Subcommand)]
pub(crate) enum Command {
    Complete(CompleteArguments),
    Fail(FailArguments),
}

/// The job is done: the event completes, and what waits behind it follows.
#[derive(Args)]
pub(crate) struct CompleteArguments {
    #[command(flatten)]
    target: TargetArguments,

    /// Also where the resolver doesn't know of a pending handoff.
    #[arg(long)]
    force: bool,
}

/// The job failed: the event is reported as failed, and blocks its session until it is resubmitted
/// or skipped.
#[derive(Args)]
pub(crate) struct FailArguments {
    #[command(flatten)]
    target: TargetArguments,

    /// Why, for the operators.
    #[arg(long, value_name = "TEXT")]
    text: String,

    /// Also where the resolver doesn't know of a pending handoff.
    #[arg(long)]
    force: bool,
}

pub(crate) async fn run(
    place: &Place,
    output: Output,
    command: Command,
) -> Result<ExitCode, Failure> {
    let (arguments, force) = match &command {
        Command::Complete(it) => (&it.target, it.force),
        Command::Fail(it) => (&it.target, it.force),
    };
    let target = Target::find(place, arguments).await?;
    if let Some(state) = target.state()
        && state != EventState::PendingHandoff
        && !force
    {
        return Err(Failure::refused(format!(
            "{} is {state}, and no job of it is known; to settle it as it is, say --force",
            target.name()
        )));
    }
    // An event that nobody knows, such as a mistyped one, would be reported as completed.
    if target.state().is_none() && !force && target.waits_for_job().await? == Some(false) {
        return Err(Failure::refused(format!(
            "the session doesn't wait for a job of {}; is the id right? To settle it as it is, say \
             --force",
            target.name()
        )));
    }
    let manager = target.endpoint.manager().await?;
    let (said, message_type, message_id) = match command {
        Command::Complete(_) => (
            "handoff completed",
            MessageType::HandoffCompletedRequest,
            manager.complete_handoff(&target.reference).await?,
        ),
        Command::Fail(it) => (
            "handoff failed",
            MessageType::HandoffFailedRequest,
            manager.fail_handoff(&target.reference, it.text).await?,
        ),
    };
    target.note(message_type, &message_id).await;
    sent::show(
        output,
        &[Sent {
            command: said,
            ..target.sent(message_id)
        }],
    )?;
    Ok(ExitCode::SUCCESS)
}
