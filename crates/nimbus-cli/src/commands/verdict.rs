//! What became of a message, judged by its record and by what was reported of it.

use std::time::Duration;

use nimbus_inbox_core::{Clock, InboxKey, InboxStoreExt, MessageId, SystemClock, Timestamp};
use nimbus_resolver::{Cause, EventState, MessageTrace, ReportKind};

use crate::failure::Failure;
use crate::output::instant;
use crate::place::Endpoint;

/// What became of a message, in one word and one sentence.
pub(crate) struct Verdict {
    pub(crate) word: &'static str,
    pub(crate) sentence: String,
    pub(crate) recorded_at: Option<Timestamp>,
}

impl Verdict {
    /// Judges a message by the inbox and, if there is one, by what the resolver heard of it.
    pub(crate) async fn of(
        endpoint: &Endpoint,
        message_id: &str,
        traces: &[MessageTrace],
        resolved: bool,
    ) -> Result<Self, Failure> {
        let id = match MessageId::new(message_id) {
            Ok(id) => id,
            Err(problem) => {
                return Ok(Self::new(
                    "unusable-id",
                    format!(
                        "The id is {problem}, so its messages are handled without the inbox, every \
                         time they are delivered."
                    ),
                ));
            }
        };
        let inbox = endpoint.inbox().await?;
        let key = InboxKey::new(inbox.endpoint().clone(), id);
        if let Some(at) = inbox.store().check_one(&key).await? {
            let sentence = format!(
                "Its work succeeded and was recorded at {}; every later delivery is skipped.",
                instant(at)
            );
            return Ok(Self {
                recorded_at: Some(at),
                ..Self::new("recorded", sentence)
            });
        }
        Ok(match traces.first() {
            Some(trace) => unrecorded(trace, inbox.options().retention_period()),
            None if resolved => Self::new(
                "never-seen",
                "It is not recorded, and the resolver has heard nothing of it: the endpoint never \
                 settled such a message, or both have forgotten it since.",
            ),
            None => Self::new(
                "never-seen",
                "It is not recorded. Why can't be told without a resolver: it never arrived, did \
                 not succeed, or its record has expired.",
            ),
        })
    }

    fn new(word: &'static str, sentence: impl Into<String>) -> Self {
        Self {
            word,
            sentence: sentence.into(),
            recorded_at: None,
        }
    }
}

/// Why a message that was heard of is not on record.
fn unrecorded(trace: &MessageTrace, retention: Duration) -> Verdict {
    let event = &trace.event;
    let (word, sentence) = match event.state {
        EventState::Completed => return completed(trace, retention),
        EventState::PendingHandoff => (
            "handed-off",
            "Its work was handed to an external job, which is never recorded.",
        ),
        EventState::RetryScheduled => (
            "failed",
            "Its handler failed and is tried again; the success of a retry is recorded for it.",
        ),
        EventState::Failed if event.identity.session_id.is_none() => (
            "failed",
            "Its handler failed and no retry is left. Without a session, the success of a \
             resubmission is not recorded for it: the same message would still run.",
        ),
        EventState::Failed => (
            "failed",
            "Its handler failed and no retry is left; it is recorded once a resubmission ends the \
             block of its session.",
        ),
        EventState::Deferred => (
            "deferred",
            "It is parked behind the event that blocks its session, and is recorded once it was \
             handled.",
        ),
        EventState::DeadLettered => (
            "dead-lettered",
            "It was dead-lettered, which is never recorded.",
        ),
        EventState::Unsupported => (
            "unsupported",
            "The endpoint has no handler for it, which is never recorded.",
        ),
        EventState::Skipped => (
            "skipped",
            "An operator gave it up, which is never recorded: the same message would run.",
        ),
        EventState::Discarded => (
            "discarded",
            "Its failure was classified as one that needs no success, which is never recorded: \
             the same message would run again.",
        ),
        EventState::Duplicate => (
            "expired",
            "It was skipped because its id was on record: its own success, or that of another \
             message with the same id. That record is gone: it expired or was removed.",
        ),
        _ => ("pending", "It is on its way to a handler."),
    };
    Verdict::new(word, sentence)
}

/// Why a message is not on record although its event completed.
fn completed(trace: &MessageTrace, retention: Duration) -> Verdict {
    // A retry reports success also where the event was completed another way.
    let mut reports = trace.reports.iter().rev();
    let succeeded =
        reports.find(|report| report.kind == ReportKind::Completed && report.cause == Cause::Event);
    let at = succeeded.map_or(trace.event.state_since, |report| report.occurred_at);
    let age = SystemClock.now().saturating_duration_since(at);
    match succeeded {
        Some(_) if age >= retention => Verdict::new(
            "expired",
            "Its work succeeded longer ago than records are kept, so its record has expired: the \
             same message would run again.",
        ),
        Some(_) => Verdict::new(
            "removed",
            format!(
                "Its work succeeded at {}, and there is no record of it: it was removed before its \
                 time, by a purge or with its file, or the inbox was not enabled then. The same \
                 message would run again.",
                instant(at)
            ),
        ),
        None if age >= retention => Verdict::new(
            "expired",
            "The event completed longer ago than records are kept; a record of this message, if \
             there was one, has expired: the same message would run again.",
        ),
        None => Verdict::new(
            "completed-otherwise",
            "The event completed, and there is no record of this message: it was completed by an \
             external job or a resubmission, before the inbox was enabled, or the record was \
             removed. The same message would run again.",
        ),
    }
}
