use nimbus_messaging::{MessageType, property};

use super::{Interruption, Interrupts, Received, Services};
use crate::session::{DeferredMessages, HeldSession};

impl Services {
    /// Hands a message to the code of its type.
    pub(super) async fn dispatch(
        &self,
        message: &mut Received,
        session: Option<&mut HeldSession>,
        deferred: &DeferredMessages,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        match message.headers.message_type {
            MessageType::EventRequest | MessageType::UnsupportedResponse => {
                self.event_request(message, session, interrupts).await
            }
            MessageType::RetryRequest => self.retry_request(message, session, interrupts).await,
            MessageType::ResubmissionRequest => {
                self.resubmission_request(message, session, interrupts)
                    .await
            }
            MessageType::SkipRequest => self.skip_request(message, session).await,
            MessageType::HandoffCompletedRequest => self.handoff_completed(message, session).await,
            MessageType::HandoffFailedRequest => self.handoff_failed(message, session).await,
            // Boxed: they contain the processing of an event, and would make the future of every
            // message several times as large.
            MessageType::ProcessDeferredRequest => {
                match Box::pin(self.process_deferred(session, interrupts)).await {
                    Err(Interruption::Transient) => self.postpone(message).await,
                    ended => ended,
                }
            }
            MessageType::ContinuationRequest => {
                let continued = self.continuation_request(message, session, deferred, interrupts);
                match Box::pin(continued).await {
                    Err(Interruption::Transient) => self.postpone(message).await,
                    ended => ended,
                }
            }
            MessageType::Unknown => Err(unknown(message)),
            other => Err(Interruption::Rejected {
                reason: "UnexpectedMessageType",
                description: format!("this endpoint takes no messages of type {other}"),
            }),
        }
    }
}

fn unknown(message: &Received) -> Interruption {
    let name = message.envelope.properties.text(property::MESSAGE_TYPE);
    let description = match name {
        None => "the message has no application property MessageType".to_owned(),
        Some(name) => {
            let shown: String = name.chars().take(64).collect();
            format!("the application property MessageType is {shown:?}, which is no message type")
        }
    };
    Interruption::Rejected {
        reason: "UnknownMessageType",
        description,
    }
}
