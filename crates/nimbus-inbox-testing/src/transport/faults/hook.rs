use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use nimbus_messaging::{Address, Envelope, SessionId, TransportError};

use crate::transport::ProcessId;

/// What a call asks of the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BrokerOperation {
    /// [`Transport::verify`](nimbus_messaging::Transport::verify).
    Verify,
    /// [`Transport::sender`](nimbus_messaging::Transport::sender).
    OpenSender,
    /// [`Transport::lanes`](nimbus_messaging::Transport::lanes).
    OpenLanes,
    /// [`LaneSource::accept_next`](nimbus_messaging::LaneSource::accept_next).
    Accept,
    /// [`Lane::receive`](nimbus_messaging::Lane::receive).
    Receive,
    /// [`Lane::receive_deferred`](nimbus_messaging::Lane::receive_deferred).
    ReceiveDeferred,
    /// [`LaneLock::renew`](nimbus_messaging::LaneLock::renew).
    Renew,
    /// [`Lane::release`](nimbus_messaging::Lane::release).
    Release,
    /// [`Settlement::Complete`](nimbus_messaging::Settlement::Complete).
    Complete,
    /// [`Settlement::Abandon`](nimbus_messaging::Settlement::Abandon).
    Abandon,
    /// [`Settlement::DeadLetter`](nimbus_messaging::Settlement::DeadLetter).
    DeadLetter,
    /// [`Settlement::Defer`](nimbus_messaging::Settlement::Defer).
    Defer,
    /// [`Sender::send`](nimbus_messaging::Sender::send).
    Send,
    /// [`Sender::schedule`](nimbus_messaging::Sender::schedule).
    Schedule,
    /// [`Sender::cancel_scheduled`](nimbus_messaging::Sender::cancel_scheduled).
    CancelScheduled,
    /// [`SessionStore::fence`](nimbus_messaging::SessionStore::fence).
    Fence,
    /// [`SessionStore::read`](nimbus_messaging::SessionStore::read).
    ReadState,
    /// [`SessionStore::write`](nimbus_messaging::SessionStore::write).
    WriteState,
    /// [`SessionStore::park`](nimbus_messaging::SessionStore::park).
    Park,
    /// [`SessionStore::parked`](nimbus_messaging::SessionStore::parked).
    ReadParked,
    /// [`SessionStore::unpark`](nimbus_messaging::SessionStore::unpark).
    Unpark,
}

/// Where a call stands when a [`BrokerHook`] sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrokerPoint {
    /// The call arrived. What waits for work, such as an accept, has not begun to wait.
    Called,
    /// The effect comes next. What waits for work reaches this when there is some, and again when
    /// another receiver was faster.
    Before,
    /// Between the two steps of parking or unparking, where the session store is not atomic.
    Between,
    /// The effect happened and the caller does not know it yet.
    After,
}

/// A call to the broker, as a [`BrokerHook`] and the [log](crate::InMemoryBroker::log) see it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BrokerCall {
    /// The calls of a broker in the order in which they arrived; the same at all points of one.
    pub number: u64,
    /// Who calls.
    pub process: ProcessId,
    /// What is asked for.
    pub operation: BrokerOperation,
    /// The endpoint or topic it concerns.
    pub address: Address,
    /// The session it concerns, as far as it is known at this point.
    pub session: Option<SessionId>,
    /// The messages it concerns, as far as they are known at this point.
    pub messages: Vec<Arc<Envelope>>,
}

/// Stands in every call to the broker, before and after its effect.
///
/// It may note the call, wait (for a permit, for a time, for ever) or fail it: an error before the
/// effect prevents it, an error [after](BrokerPoint::After) it loses the answer. This is how
/// [faults](super::BrokerFault) and [gates](super::BrokerGate) work, and how an explorer decides
/// what happens next.
#[async_trait]
pub trait BrokerHook: Debug + Send + Sync + 'static {
    /// A call reached a point.
    ///
    /// # Errors
    ///
    /// What the call shall answer instead of going on.
    ///
    /// # Cancel safety
    ///
    /// Dropped when the caller drops its call; the effect has happened exactly if the point is
    /// [`After`](BrokerPoint::After).
    async fn reach(&self, point: BrokerPoint, call: &BrokerCall) -> Result<(), TransportError>;
}
