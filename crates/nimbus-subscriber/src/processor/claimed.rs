use super::attempt::Attempt;
use super::success::Record;
use super::{Interruption, Received, Services};
use crate::handler::{Claimed, FailureClass, HandlerContext, HandlerError};

/// How the run of a handler ended.
#[derive(Debug)]
pub(super) enum Ended {
    Returned(Result<(), HandlerError>),
    /// It was dropped at an await.
    Dropped,
}

impl Services {
    /// What the handler's own transaction has decided, before whatever the handler returned counts
    /// (SUB-39): work that is on record must not run again, so an error after the commit, a panic,
    /// a late handoff and a cancellation change nothing.
    pub(super) fn decided(
        &self,
        message: &Received,
        context: &HandlerContext,
        ended: &Ended,
    ) -> Result<Option<Attempt>, Interruption> {
        let claimed = context.close();
        let decided = match claimed {
            Claimed::Nothing => return Ok(None),
            Claimed::StoreFailed => return self.stored(ended),
            Claimed::GivenUp => return self.given_up(message, ended),
            Claimed::InDoubt => {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    message_id = message.headers.message_id.as_deref(),
                    "whether a handler's transaction was committed is not known; the message is \
                     left for redelivery, which finds out"
                );
                return Err(match ended {
                    Ended::Dropped => Interruption::Cancelled,
                    Ended::Returned(_) => Interruption::StoreUnavailable,
                });
            }
            Claimed::Duplicate => Attempt::Duplicate,
            Claimed::Recorded if context.handoff().is_some() => {
                tracing::error!(
                    endpoint = %self.endpoint,
                    message_id = message.headers.message_id.as_deref(),
                    "a handler handed its work off after its transaction had recorded the message: \
                     the event counts as handled and its session goes on; mark the handoff before \
                     the transaction's work returns"
                );
                Attempt::Succeeded(Record::Committed)
            }
            Claimed::Recorded => Attempt::Succeeded(Record::Committed),
            Claimed::HandedOff => context
                .handoff()
                .map_or(Attempt::Succeeded(Record::Committed), Attempt::HandedOff),
        };
        if let Ended::Returned(Err(error)) = ended {
            tracing::error!(
                endpoint = %self.endpoint,
                event_type = message.event_type(),
                message_id = message.headers.message_id.as_deref(),
                %error,
                "a handler failed after its transaction was decided; the message is not run again: \
                 whatever should have followed in the handler is missing, so move it into the \
                 transaction"
            );
        }
        Ok(Some(decided))
    }

    /// The store failed before the commit. Intake pauses until it answers (SUB-30), unless the
    /// handler has made something else of it.
    fn stored(&self, ended: &Ended) -> Result<Option<Attempt>, Interruption> {
        match ended {
            Ended::Returned(Err(error)) if error.class() == Some(FailureClass::Transient) => {
                Err(Interruption::StoreUnavailable)
            }
            _ => Ok(None),
        }
    }

    /// A timeout ended the wait for the claim. A retry would not see the record of a delivery that
    /// was waited for (INB-18), and do its work once more. Nor does a redelivery have to be spent on
    /// each message if it is the store that hangs.
    fn given_up(&self, message: &Received, ended: &Ended) -> Result<Option<Attempt>, Interruption> {
        let Ended::Returned(Err(error)) = ended else {
            return Ok(None);
        };
        if !matches!(error.class(), None | Some(FailureClass::Transient)) {
            return Ok(None);
        }
        tracing::warn!(
            endpoint = %self.endpoint,
            event_type = message.event_type(),
            message_id = message.headers.message_id.as_deref(),
            %error,
            "a handler's transaction was given up before its work began: the inbox store does not \
             answer, or another delivery of the message is in work; the message is left for \
             redelivery"
        );
        Err(Interruption::StoreUnavailable)
    }
}
