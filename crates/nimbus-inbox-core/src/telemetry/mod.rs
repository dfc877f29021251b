//! The names of everything the inbox measures and traces, in one place (INB-37, INB-38).
//!
//! Metric attributes are bounded: the store operation, the provider, the kind of error, the
//! reason of a bypass, and the configured endpoint. No message id, session id or text of a
//! message ever becomes one.

mod instruments;

pub(crate) use instruments::Instruments;

/// The meter that the instruments belong to.
pub const METER: &str = "nimbus.inbox";

/// Counter, `{messages}`: deliveries recognised as duplicates and skipped.
pub const DUPLICATE_DETECTED: &str = "nimbus.inbox.duplicate_detected";
/// Counter, `{messages}`: deliveries handled without the inbox because of an unusable id.
pub const BYPASSED: &str = "nimbus.inbox.bypassed";
/// Counter, `{operations}`: store operations that failed, timed out or panicked.
pub const OPERATION_FAILED: &str = "nimbus.inbox.operation.failed";
/// Histogram, seconds: how long a store operation took.
pub const OPERATION_DURATION: &str = "nimbus.inbox.operation.duration";
/// Counter, `{records}`: expired records removed.
pub const PURGED: &str = "nimbus.inbox.purged";
/// Gauge, `{records}`: how many expired records the last pass is known to have left at least;
/// zero when it caught up.
pub const PURGE_BACKLOG: &str = "nimbus.inbox.purge.backlog";

/// Unit of counted messages.
pub const UNIT_MESSAGES: &str = "{messages}";
/// Unit of counted store operations.
pub const UNIT_OPERATIONS: &str = "{operations}";
/// Unit of counted records.
pub const UNIT_RECORDS: &str = "{records}";
/// Unit of durations.
pub const UNIT_SECONDS: &str = "s";

/// Attribute: `check`, `record` or `purge`. The steps of a transaction count as `record`.
pub const STORE_OPERATION: &str = "nimbus.store.operation";
/// Attribute: the provider's short name.
pub const STORE_PROVIDER: &str = "nimbus.store.provider";
/// Attribute: the configured endpoint; absent where the scope comes from the messages.
pub const ENDPOINT: &str = "nimbus.endpoint";
/// Attribute: `missing`, `blank` or `too_long`.
pub const BYPASS_REASON: &str = "nimbus.inbox.bypass_reason";
/// Attribute: `transient`, `configuration`, `invalid_input` or `outcome_unknown`.
pub const ERROR_TYPE: &str = "error.type";

/// Span around the store call of a check.
pub const SPAN_CHECK: &str = "nimbus.inbox.check";
/// Span around the store call of a record.
pub const SPAN_RECORD: &str = "nimbus.inbox.record";
/// Span around the store call of a purge.
pub const SPAN_PURGE: &str = "nimbus.inbox.purge";

/// Span attribute of the messaging conventions: always `nimbus`.
pub const MESSAGING_SYSTEM: &str = "messaging.system";
/// Span attribute of the messaging conventions: the operation.
pub const MESSAGING_OPERATION_NAME: &str = "messaging.operation.name";
/// Span attribute of the messaging conventions: the endpoint.
pub const MESSAGING_CONSUMER_GROUP: &str = "messaging.consumer.group.name";
/// Span attribute of the messaging conventions: the first message id of the call.
pub const MESSAGING_MESSAGE_ID: &str = "messaging.message.id";
/// Span attribute of the messaging conventions: how many keys the call carries.
pub const MESSAGING_BATCH_COUNT: &str = "messaging.batch.message_count";
/// Value of [`MESSAGING_SYSTEM`].
pub const SYSTEM: &str = "nimbus";
