use std::time::Duration;

/// What a broker can do. The subscriber supplies or refuses what it can't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about a broker"
)]
pub struct TransportCapabilities {
    /// [`Settlement::Defer`](crate::Settlement::Defer) and receiving by sequence number.
    pub deferral: bool,
    /// Its lanes hand out a [`SessionStore`](crate::SessionStore).
    pub session_store: bool,
    /// [`Sender::schedule`](crate::Sender::schedule).
    pub scheduled_send: bool,
    /// [`Sender::cancel_scheduled`](crate::Sender::cancel_scheduled).
    pub cancel_scheduled: bool,
    /// The longest time between two deliveries of one message, where the broker can tell; records
    /// that expire sooner let it run again.
    pub redelivery_horizon: Option<Duration>,
}
