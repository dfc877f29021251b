#![doc = include_str!("../README.md")]

mod cloud_events;
mod manager;
mod model;
mod session;
mod transport;
mod wire;

pub use cloud_events::{
    AttributeProblem, CloudEvent, CloudEventData, CloudEventFault, CloudEventIdentity,
    CloudEventMode, InvalidCloudEvent, is_attribute_name,
};
pub use manager::{EventReference, ManagerClient, ManagerError, ManagerErrorKind};
pub use model::{
    Address, ErrorContent, EventContent, EventId, EventRequest, Headers, MalformedMessage,
    MessageContent, MessageType, TraceContext, TransitionIdError, UnreadableEvent,
    derived_message_id, random_message_id, transition_message_id,
};
pub use session::{
    Cas, ParkedCopy, ParkedRef, SessionDirectory, SessionId, SessionOverview, SessionState,
    SessionStore, SessionStoreCapabilities, StateVersion, VersionedState,
};
pub use transport::{
    Delivery, Lane, LaneLock, LaneSource, Receipt, ScheduledId, Sender, SettledSignal, Settlement,
    SettlementTasks, Settler, Stopper, Transport, TransportCapabilities, TransportError,
    TransportErrorKind,
};
pub use wire::{Envelope, Properties, PropertyValue, property};
