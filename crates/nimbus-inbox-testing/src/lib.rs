#![doc = include_str!("../README.md")]

mod clock;
mod conformance;
mod faults;
mod key;
mod proxy;
mod store;
mod transport;

pub use clock::{ManualClock, TokioClock};
pub use conformance::{
    CaseOutcome, CaseResult, Conformance, DeadLettered, Namespace, ServiceTests,
    SessionStoreConformance, StoreConformance, TransportConformance, TransportUnderTest,
};
pub use faults::{
    CallCount, CountingStore, Fault, FaultyStore, Gate, GateStore, HeldCall, Point, StoreCall,
    StoreCounts, When,
};
pub use key::key;
pub use proxy::{HeldRequest, ProxyFault, TcpProxy};
pub use store::{InMemoryInbox, InMemoryTransaction};
pub use transport::{
    BrokerCall, BrokerFault, BrokerGate, BrokerHook, BrokerOperation, BrokerOptions, BrokerPoint,
    BrokerWhen, DeadLetter, HeldBrokerCall, InMemoryBroker, InMemoryTransport, LoggedCall,
    MessageStatus, ProcessId, QueuedMessage,
};
