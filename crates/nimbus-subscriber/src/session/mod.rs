//! The session that a delivery belongs to, as this receiver holds it.

mod deferred;
mod held;

pub(crate) use deferred::DeferredMessages;
pub(crate) use held::HeldSession;
