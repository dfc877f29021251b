//! A broker in memory: sessions, locks and schedules, with every call open to a test.

mod broker;
mod call;
mod connected;
mod faults;
mod inspect;
mod lane;
mod lanes;
mod lock;
mod options;
mod process;
mod sender;
mod session_store;
mod settler;
mod state;

pub use broker::InMemoryBroker;
pub use connected::InMemoryTransport;
pub use faults::{
    BrokerCall, BrokerFault, BrokerGate, BrokerHook, BrokerOperation, BrokerPoint, BrokerWhen,
    HeldBrokerCall,
};
pub use inspect::{DeadLetter, LoggedCall, MessageStatus, QueuedMessage};
pub use options::BrokerOptions;
pub use process::ProcessId;
