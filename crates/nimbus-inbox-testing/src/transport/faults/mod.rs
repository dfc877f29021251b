//! What a test does to calls at the broker: fail, delay and hold them by script.

mod fault;
mod gate;
mod hook;
mod when;

pub use fault::BrokerFault;
pub use gate::{BrokerGate, HeldBrokerCall};
pub use hook::{BrokerCall, BrokerHook, BrokerOperation, BrokerPoint};
pub use when::BrokerWhen;

pub(super) use fault::Rule;
pub(super) use gate::Barrier;
