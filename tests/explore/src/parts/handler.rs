use nimbus_inbox_testing::ProcessId;
use nimbus_subscriber::{HandlerContext, HandlerError, Handoff};
use serde::de::IgnoredAny;

use crate::effect::Effect;
use crate::event::Event;
use crate::gate::Gate;
use crate::oracle::Oracle;
use crate::outcome::Outcome;

/// The handler of one process.
#[derive(Debug, Clone)]
pub(crate) struct Handler {
    pub(crate) gate: Gate,
    pub(crate) oracle: Oracle,
    pub(crate) process: ProcessId,
}

/// Ends as the explorer chooses. Its effect and its return are one step.
pub(crate) async fn play(
    handler: Handler,
    _: IgnoredAny,
    context: HandlerContext,
) -> Result<(), HandlerError> {
    let Some(event) = Event::of_id(context.event_id()) else {
        return Err(HandlerError::dead_letter("the event has no name"));
    };
    let Handler {
        gate,
        oracle,
        process,
    } = handler;
    oracle.begins(process, event, &context);
    let outcome = gate.pass(process, Effect::Handler(event)).await;
    oracle.plays(process, event, outcome);
    match outcome {
        Outcome::Succeeds => Ok(()),
        Outcome::HandsOff => {
            context.mark_pending_handoff(Handoff::default());
            Ok(())
        }
        Outcome::Fails => Err(HandlerError::retry("no stock")),
        Outcome::Discards => Err(HandlerError::discard("of no use")),
        Outcome::DeadLetters => Err(HandlerError::dead_letter("not readable")),
        Outcome::MeetsAnOutage => Err(HandlerError::transient("no answer")),
    }
}
