//! What a simulated process touches: each effect of it waits at the gate.

mod broker;
mod handler;
mod inbox;

pub(crate) use broker::BrokerSteps;
pub(crate) use handler::{Handler, play};
pub(crate) use inbox::InboxSteps;
