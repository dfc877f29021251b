use nimbus_inbox_core::Timestamp;
use nimbus_messaging::Envelope;

use super::{Interruption, Received, Services};
use crate::cloud_events::Translated;

impl Services {
    /// Reads the headers of a delivery. A CloudEvent becomes the native message that everything
    /// behind works on: its retries, its parked copy and its resubmissions are native, and none of
    /// them is translated again (SUB-06).
    pub(super) fn read(
        &self,
        envelope: Envelope,
        delivery_count: u32,
        enqueued_at: Option<Timestamp>,
    ) -> (Received, Result<(), Interruption>) {
        let now = self.clock.now();
        let read = |envelope| Received::read(envelope, delivery_count, enqueued_at, now);
        match self.cloud_events.translate(envelope) {
            Translated::Native(envelope) => {
                let (received, read) = read(envelope);
                (received, read.map_err(Interruption::from))
            }
            Translated::Event { envelope, moves } => {
                let (mut received, read) = read(envelope);
                received.moves = moves;
                (received, read.map_err(Interruption::from))
            }
            Translated::Refused {
                envelope,
                reason,
                description,
            } => {
                let refused = Interruption::Rejected {
                    reason,
                    description,
                };
                (read(envelope).0, Err(refused))
            }
        }
    }
}
