//! Names of headers that are no application properties.

/// What this transport's own headers begin with.
pub(crate) const OWN: &str = "nimbus-";

/// The session, in whose order the message is.
pub(crate) const SESSION: &str = "nimbus-session";
/// The session of an answer.
pub(crate) const REPLY_TO_SESSION: &str = "nimbus-reply-to-session";
/// When it was sent, in 100-nanosecond ticks: AMQP's own timestamp counts seconds.
pub(crate) const SENT: &str = "nimbus-sent";
/// Not before when it is delivered, in 100-nanosecond ticks.
pub(crate) const DUE: &str = "nimbus-due";
/// Fields that are longer than the 255 bytes which AMQP's own fields hold.
pub(crate) const MESSAGE_ID: &str = "nimbus-message-id";
pub(crate) const CORRELATION_ID: &str = "nimbus-correlation-id";
pub(crate) const REPLY_TO: &str = "nimbus-reply-to";
pub(crate) const CONTENT_TYPE: &str = "nimbus-content-type";

/// The one member of a table that holds an instant AMQP's timestamp can't hold.
pub(crate) const TICKS: &str = "nimbus-ticks";

/// How often the message was delivered before.
pub(crate) const DELIVERY_COUNT: &str = "x-delivery-count";

/// Whether a header of that name is the broker's: it writes it, or is directed by it.
pub(crate) fn is_brokers(name: &str) -> bool {
    matches!(
        name,
        DELIVERY_COUNT | "x-acquired-count" | "x-death" | "CC" | "BCC"
    ) || name.starts_with("x-first-death-")
        || name.starts_with("x-last-death-")
}

/// Whether an application property can't have that name.
pub(crate) fn is_reserved(name: &str) -> bool {
    is_brokers(name) || name.starts_with(OWN)
}
