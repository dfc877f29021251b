use nimbus_inbox_core::Inbox;
use nimbus_inbox_testing::{InMemoryInbox, ProcessId};
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
    /// Where the effect is committed together with the record.
    pub(crate) transaction: Option<Inbox<InMemoryInbox>>,
}

/// Ends as the explorer chooses. Its effect, which a transaction commits together with the record,
/// and its return are one step.
pub(crate) async fn play(
    handler: Handler,
    _: IgnoredAny,
    context: HandlerContext,
) -> Result<(), HandlerError> {
    let Some(event) = Event::of_id(context.event_id()) else {
        return Err(HandlerError::dead_letter("the event has no name"));
    };
    let Some(inbox) = &handler.transaction else {
        let outcome = handler.choose(event, &context).await;
        handler.oracle.plays(handler.process, event, outcome);
        return end(outcome, &context);
    };
    let work = context.process_in(inbox, (), async |tx| {
        let outcome = handler.choose(event, &context).await;
        let (oracle, process) = (handler.oracle.clone(), handler.process);
        if outcome == Outcome::Succeeds {
            let records = inbox.store().clone();
            tx.on_commit(move || {
                oracle.plays(process, event, outcome);
                for key in records.keys() {
                    oracle.committed(process, key.message_id().as_str());
                }
            });
        } else {
            oracle.plays(process, event, outcome);
        }
        end(outcome, &context)
    });
    work.await
}

impl Handler {
    async fn choose(&self, event: Event, context: &HandlerContext) -> Outcome {
        self.oracle.begins(self.process, event, context);
        let effect = Effect::Handler(event);
        self.gate.pass(self.process, effect).await
    }
}

fn end(outcome: Outcome, context: &HandlerContext) -> Result<(), HandlerError> {
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
