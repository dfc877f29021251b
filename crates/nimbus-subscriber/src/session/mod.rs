//! The session that a delivery belongs to, as this receiver holds it.

mod held;

pub(crate) use held::HeldSession;
