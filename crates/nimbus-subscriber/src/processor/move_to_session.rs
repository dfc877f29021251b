use nimbus_messaging::TransportErrorKind;

use super::{Interruption, Received, Services, bounded};

impl Services {
    /// Sends an event on into the session that its attributes name.
    ///
    /// Its own delivery holds no lock on that session: handled here, it could run beside another
    /// message of the session, or overtake those that wait. It keeps its message id, so that a crash
    /// before the delivery is completed leaves a duplicate that the inbox recognises.
    pub(super) async fn move_to_session(&self, message: &Received) -> Result<(), Interruption> {
        let session_id = message.headers.session_id.as_deref();
        let message_id = message.headers.message_id.as_deref();
        match bounded(self.own_queue.send(vec![message.envelope.clone()])).await {
            Ok(()) => {
                tracing::debug!(
                    endpoint = %self.endpoint,
                    message_id,
                    session_id,
                    "an event is sent on into the session that its attributes name"
                );
                Ok(())
            }
            // A native message is a little larger than a CloudEvent. Waiting would not help.
            Err(error) if error.kind() == TransportErrorKind::InvalidInput => {
                Err(Interruption::Rejected {
                    reason: "NotMovedToSession",
                    description: format!(
                        "the broker refuses to take the event into the session that its \
                         attributes name: {error}; have its producer set the broker's session id"
                    ),
                })
            }
            Err(error) => {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    message_id,
                    session_id,
                    error = &error as &dyn std::error::Error,
                    "sending an event on into its session failed; the message is left for \
                     redelivery"
                );
                Err(Interruption::from_transport(&error))
            }
        }
    }
}
