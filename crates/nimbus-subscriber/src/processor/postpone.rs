use nimbus_messaging::{property, random_message_id};

use super::settle::redelivery_delay;
use super::{Interruption, Received, Services, bounded};
use crate::telemetry;

impl Services {
    /// Has a drain that met an outage tried again later, as a message of its own.
    ///
    /// Given back to the broker time and again it would be dead-lettered in the end, and with it
    /// the only trigger that the session's parked messages may have left.
    pub(super) async fn postpone(&self, drain: &Received) -> Result<(), Interruption> {
        let times = drain
            .headers
            .throttle_retry_count
            .unwrap_or(0)
            .saturating_add(1);
        let delay = redelivery_delay(times);
        let mut later = drain.envelope.clone();
        later.message_id = Some(random_message_id());
        later
            .properties
            .set(property::THROTTLE_RETRY_COUNT, times.to_string());
        let trace = telemetry::outgoing(&drain.headers.trace);
        for (name, value) in [
            (property::TRACEPARENT, trace.parent),
            (property::TRACESTATE, trace.state),
        ] {
            match value {
                Some(value) => later.properties.set(name, value),
                None => {
                    later.properties.remove(name);
                }
            }
        }
        let due = self.clock.now().saturating_add(delay);
        match bounded(self.own_queue.schedule(later, due)).await {
            Ok(_) => {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    session_id = drain.headers.session_id.as_deref(),
                    times,
                    ?delay,
                    "the parked messages of a session can't be handled now; trying again after \
                     the delay"
                );
                Ok(())
            }
            Err(error) => {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    error = &error as &dyn std::error::Error,
                    "postponing a drain failed; the message is left for redelivery"
                );
                Err(Interruption::from_transport(&error))
            }
        }
    }
}
