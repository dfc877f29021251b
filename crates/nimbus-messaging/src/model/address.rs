super::caseless::caseless_name! {
    /// The name of an endpoint, a well-known receiver or a topic.
    ///
    /// Two addresses are equal when they differ only by ASCII case (SUB-04). Inbox keys never
    /// compare that way: they use [`EndpointId`](nimbus_inbox_core::EndpointId).
    Address
}

impl Address {
    /// Keeps the state of every event.
    pub const RESOLVER: Self = Self::from_static("Resolver");
    /// Sends what operators ask for.
    pub const MANAGER: Self = Self::from_static("Manager");
    /// Sends continuation requests of the older, broker-native deferral.
    pub const CONTINUATION: Self = Self::from_static("Continuation");
    /// The subscriber's own endpoint, as a sender names it.
    pub const SELF: Self = Self::from_static("self");
    /// The publisher of events.
    pub const EVENT: Self = Self::from_static("Event");
    /// The sender of scheduled retries.
    pub const RETRY: Self = Self::from_static("Retry");
    /// The sender of drain requests.
    pub const DEFERRED_PROCESSOR: Self = Self::from_static("DeferredProcessor");
    /// The queue of parked copies, where a broker keeps them.
    pub const DEFERRED: Self = Self::from_static("Deferred");
}
