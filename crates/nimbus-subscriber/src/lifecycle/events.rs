use nimbus_inbox_core::{EndpointId, Timestamp};
use nimbus_messaging::{Headers, SessionId};

use crate::handler::FailureClass;

/// A delivery has come from the broker and its headers are read; nothing has been done with it.
///
/// Fires for every delivery, also of control messages, of duplicates, and of messages that are
/// malformed, whose headers are then those that could be read. A parked message was received when
/// it was parked, and not once more when it is handled.
#[derive(Debug)]
#[non_exhaustive]
pub struct MessageReceived<'a> {
    /// The endpoint that received it.
    pub endpoint: &'a EndpointId,
    /// Identity and routing; never the payload.
    pub headers: &'a Headers,
    /// How often the broker has delivered this message.
    pub delivery_count: u32,
}

/// A handler has succeeded, and where there is an inbox its success is on record.
///
/// Fires after the record and before the outcome and the settlement, which may still fail: the
/// redelivery is then a [duplicate](DuplicateDetected), and no success is told twice. Not for an
/// event that was handed off, skipped, or completed by an operator without its handler.
#[derive(Debug)]
#[non_exhaustive]
pub struct MessageCompleted<'a> {
    /// The endpoint that handled it.
    pub endpoint: &'a EndpointId,
    /// Identity and routing; never the payload.
    pub headers: &'a Headers,
}

/// An attempt at an event has failed: its handler, a layer around it, or the reading of the event.
///
/// Fires for each attempt, retries included, before anything follows from the failure. Not for an
/// attempt that was cancelled by a stop or a lost lock, nor for one that the circuit breaker held
/// back.
#[derive(Debug)]
#[non_exhaustive]
pub struct MessageFailed<'a> {
    /// The endpoint whose handler failed.
    pub endpoint: &'a EndpointId,
    /// Identity and routing; never the payload.
    pub headers: &'a Headers,
    /// What becomes of the message.
    pub class: FailureClass,
    /// The kind of error.
    pub error_type: &'a str,
    /// The error's own text, of any length; a handler may have quoted its event in it.
    pub error_text: &'a str,
}

/// A message is set aside for an operator; also one that is malformed.
///
/// Fires once the resolver was told, before the broker is: the message may come again, and fire
/// again, where the broker does not confirm. What the broker dead-letters by itself, such as a
/// message delivered too often, is not seen here.
#[derive(Debug)]
#[non_exhaustive]
pub struct MessageDeadLettered<'a> {
    /// The endpoint that set it aside.
    pub endpoint: &'a EndpointId,
    /// Identity and routing, as far as they could be read; never the payload.
    pub headers: &'a Headers,
    /// A short reason, such as `MalformedMessage`.
    pub reason: &'a str,
    /// What is wrong, in at most 4,096 characters.
    pub description: &'a str,
}

/// A session is blocked by one of its events; its later messages are set aside.
///
/// Fires after the block was written. Not again while the same event's retries fail.
#[derive(Debug)]
#[non_exhaustive]
pub struct SessionBlocked<'a> {
    /// The endpoint whose session it is.
    pub endpoint: &'a EndpointId,
    /// The session.
    pub session_id: &'a SessionId,
    /// Identity and routing of the event that blocks it; `headers.event_id` names the block to
    /// operators.
    pub headers: &'a Headers,
    /// Why.
    pub cause: BlockCause,
}

/// Why an event blocks its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockCause {
    /// It failed, and waits for a retry or an operator.
    Failure,
    /// It was handed to an external job, and waits for the job to be settled.
    Handoff,
}

/// A message whose work had succeeded before, and which was skipped.
///
/// Fires before the outcome and the settlement.
#[derive(Debug)]
#[non_exhaustive]
pub struct DuplicateDetected<'a> {
    /// The endpoint that skipped it.
    pub endpoint: &'a EndpointId,
    /// Identity and routing; never the payload.
    pub headers: &'a Headers,
    /// When the work was first recorded; not known where a
    /// [handler's own transaction](crate::HandlerContext::process_in) found the record.
    pub first_recorded: Option<Timestamp>,
}
