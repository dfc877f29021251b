//! Names of the application properties (SUB-02). A .NET NimBus peer reads and writes the same.

macro_rules! properties {
    ($($(#[$doc:meta])* $name:ident = $wire:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $wire;)*
    };
}

properties! {
    /// Address of the sender.
    FROM = "From";
    /// Address of the receiver.
    TO = "To";
    /// Name of the [message type](crate::MessageType).
    MESSAGE_TYPE = "MessageType";
    /// Id of the event, shared by everything that concerns it.
    EVENT_ID = "EventId";
    /// Message id of the first message of the causal chain; never used for deduplication (INB-19).
    ORIGINATING_MESSAGE_ID = "OriginatingMessageId";
    /// Message id of the message that caused this one.
    PARENT_MESSAGE_ID = "ParentMessageId";
    /// [Type](crate::MessageType) of the message that an outcome is about, `ParentMessageId`: an
    /// event, its retry or an operator's command.
    PARENT_MESSAGE_TYPE = "ParentMessageType";
    /// How many retries the publisher allows.
    RETRY_LIMIT = "RetryLimit";
    /// How many retries came before.
    RETRY_COUNT = "RetryCount";
    /// Address that sent the first message of the causal chain.
    ORIGINATING_FROM = "OriginatingFrom";
    /// Description given when the message was dead-lettered.
    DEAD_LETTER_ERROR_DESCRIPTION = "DeadLetterErrorDescription";
    /// Reason given when the message was dead-lettered.
    DEAD_LETTER_REASON = "DeadLetterReason";
    /// Type of the event, which selects the handler.
    EVENT_TYPE_ID = "EventTypeId";
    /// Session the event belongs to, on messages that travel outside it.
    ORIGINAL_SESSION_ID = "OriginalSessionId";
    /// Place of a parked copy in its session's order.
    DEFERRAL_SEQUENCE = "DeferralSequence";
    /// Milliseconds the message waited in the queue.
    QUEUE_TIME_MS = "QueueTimeMs";
    /// Milliseconds the handler ran.
    PROCESSING_TIME_MS = "ProcessingTimeMs";
    /// Why the handler handed the work off.
    HANDOFF_REASON = "HandoffReason";
    /// Id of the external job that the work was handed to.
    EXTERNAL_JOB_ID = "ExternalJobId";
    /// When the external job is expected to be done.
    EXPECTED_BY = "ExpectedBy";
    /// CloudEvents `id`.
    CLOUD_EVENT_ID = "CloudEventId";
    /// CloudEvents `source`.
    CLOUD_EVENT_SOURCE = "CloudEventSource";
    /// CloudEvents `type`.
    CLOUD_EVENT_TYPE = "CloudEventType";
    /// CloudEvents `subject`.
    CLOUD_EVENT_SUBJECT = "CloudEventSubject";
    /// How often the message was put back by throttling.
    THROTTLE_RETRY_COUNT = "ThrottleRetryCount";
    /// Message id that the broker first delivered the event with, on stand-ins (INB-16).
    INBOX_MESSAGE_ID = "InboxMessageId";
    /// The block of a session that a retry belongs to (SUB-10).
    BLOCK_ID = "BlockId";
    /// When the retry is due that was decided on with a reported failure; absent when none is left.
    NEXT_RETRY_AT = "NextRetryAt";
    /// W3C trace context.
    TRACEPARENT = "traceparent";
    /// W3C trace context, vendor part.
    TRACESTATE = "tracestate";
}
