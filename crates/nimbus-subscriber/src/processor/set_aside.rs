use super::attempt::SetAside;
use super::{Interruption, Received, Services};
use crate::responder::Outcome;

impl Services {
    /// Reports an event that is neither done nor tried again (SUB-21). Dead-lettering is left to
    /// whoever holds the delivery.
    pub(super) async fn set_aside(
        &self,
        message: &Received,
        reason: SetAside,
    ) -> Result<(), Interruption> {
        match reason {
            SetAside::Discarded {
                error_type,
                text,
                classifier,
            } => {
                self.tally.discarded();
                let outcome = Outcome::Discarded {
                    error_type,
                    text,
                    classifier,
                };
                self.responder.send(message.about(), outcome).await
            }
            SetAside::Unsupported => {
                self.tally.unsupported();
                let event_type = message.event_type().to_owned();
                let outcome = Outcome::Unsupported { event_type };
                self.responder.send(message.about(), outcome).await
            }
            SetAside::DeadLettered {
                reason,
                description,
            } => Err(Interruption::Rejected {
                reason,
                description,
            }),
        }
    }
}
