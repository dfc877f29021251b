use std::process::ExitCode;

use clap::Args;
use nimbus_messaging::MessageType;
use nimbus_resolver::EventState;

use super::sent::{self, Sent};
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::output::Output;
use crate::place::Place;
use crate::target::{Target, TargetArguments};

/// Give an event up.
///
/// If it blocks its session the block ends, and what waits behind it follows. Its work is then never
/// done, unless it is resubmitted later.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: TargetArguments,

    /// Don't ask.
    #[arg(long, short = 'y')]
    yes: bool,
}

pub(crate) async fn run(
    place: &Place,
    output: Output,
    arguments: Arguments,
) -> Result<ExitCode, Failure> {
    let target = Target::find(place, &arguments.target).await?;
    match target.state() {
        Some(state @ (EventState::Completed | EventState::Skipped | EventState::Discarded)) => {
            return Err(Failure::refused(format!(
                "{} is {state}; there is nothing to skip",
                target.name()
            )));
        }
        Some(EventState::Deferred) => {
            return Err(Failure::refused(format!(
                "{} is parked behind another event, and is handled when its turn comes all the \
                 same; settle the event that blocks the session: `nimbus sessions show`",
                target.name()
            )));
        }
        _ => {}
    }
    let question = format!("Give {} up? Its work is then not done.", target.described());
    confirm(&question, arguments.yes)?;
    let manager = target.endpoint.manager().await?;
    let message_id = manager.skip(&target.reference).await?;
    target.note(MessageType::SkipRequest, &message_id).await;
    sent::show(
        output,
        &[Sent {
            command: "skip",
            ..target.sent(message_id)
        }],
    )?;
    Ok(ExitCode::SUCCESS)
}
