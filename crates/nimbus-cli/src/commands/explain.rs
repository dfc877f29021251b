//! Why a message is recorded as done, or is not.

use std::process::ExitCode;

use clap::Args;
use nimbus_inbox_core::{Clock, InboxKey, InboxStoreExt, MessageId, SystemClock, Timestamp};
use nimbus_resolver::{EventState, MessageTrace, ReportKind};
use serde::Serialize;

use super::events::found;
use crate::failure::Failure;
use crate::output::{EventView, HistoryView, Output, fields, instant};
use crate::place::{Endpoint, Place};

/// Say when a message was recorded as done, or why it was not.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The endpoint that received it.
    endpoint: String,

    /// The message's id.
    #[arg(value_name = "MESSAGE-ID")]
    message_id: String,
}

/// The answer in JSON.
#[derive(Serialize)]
struct ExplainView {
    endpoint: String,
    message_id: String,
    verdict: &'static str,
    explanation: String,
    recorded_at: Option<String>,
    duplicates: Option<u64>,
    events: Vec<TraceView>,
}

#[derive(Serialize)]
struct TraceView {
    event: EventView,
    reports: Vec<HistoryView>,
}

/// What became of a message, in one word and one sentence.
struct Verdict {
    word: &'static str,
    sentence: String,
    recorded_at: Option<Timestamp>,
}

pub(crate) async fn run(
    place: &Place,
    output: Output,
    arguments: Arguments,
) -> Result<ExitCode, Failure> {
    let endpoint = place.endpoint(&arguments.endpoint)?;
    let resolver = endpoint.resolver_if_any().await?;
    let traces = match &resolver {
        Some(resolver) => {
            let traces = resolver.message(endpoint.name(), &arguments.message_id);
            traces.await?
        }
        None => Vec::new(),
    };
    let verdict = judge(endpoint, &arguments.message_id, &traces, resolver.is_some()).await?;
    let duplicates = resolver.is_some().then(|| duplicates(&traces));
    let view = ExplainView {
        endpoint: endpoint.name().to_owned(),
        message_id: arguments.message_id,
        verdict: verdict.word,
        explanation: verdict.sentence,
        recorded_at: verdict.recorded_at.map(|at| at.to_string()),
        duplicates,
        events: traces
            .iter()
            .map(|trace| TraceView {
                event: (&trace.event).into(),
                reports: trace.reports.iter().map(HistoryView::from).collect(),
            })
            .collect(),
    };
    output.show(&view, || page(&view, &traces, verdict.recorded_at));
    Ok(found(view.verdict != "never-seen"))
}

async fn judge(
    endpoint: &Endpoint,
    message_id: &str,
    traces: &[MessageTrace],
    resolved: bool,
) -> Result<Verdict, Failure> {
    let verdict = |word, sentence: &str| Verdict {
        word,
        sentence: sentence.to_owned(),
        recorded_at: None,
    };
    let id = match MessageId::new(message_id) {
        Ok(id) => id,
        Err(problem) => {
            return Ok(verdict(
                "unusable-id",
                &format!(
                    "The id is {problem}, so its messages are handled without the inbox, every \
                     time they are delivered."
                ),
            ));
        }
    };
    let inbox = endpoint.inbox().await?;
    let key = InboxKey::new(inbox.endpoint().clone(), id);
    if let Some(at) = inbox.store().check_one(&key).await? {
        return Ok(Verdict {
            word: "recorded",
            sentence: format!(
                "Its work succeeded and was recorded at {}; every later delivery is skipped.",
                instant(at)
            ),
            recorded_at: Some(at),
        });
    }
    let Some(event) = traces.first().map(|trace| &trace.event) else {
        let sentence = if resolved {
            "It is not recorded, and the resolver has heard nothing of it: the endpoint never \
             settled such a message, or both have forgotten it since."
        } else {
            "It is not recorded. Why can't be told without a resolver: it never arrived, did not \
             succeed, or its record has expired."
        };
        return Ok(verdict("never-seen", sentence));
    };
    let retention = inbox.options().retention_period();
    let age = SystemClock
        .now()
        .saturating_duration_since(event.state_since);
    Ok(match event.state {
        EventState::Completed if age >= retention => verdict(
            "expired",
            "The event completed longer ago than records are kept, so its record has expired: the \
             same message would run again.",
        ),
        EventState::Completed => verdict(
            "completed-otherwise",
            "The event completed without this message being recorded: by an external job, by a \
             resubmission, or before the inbox was enabled. The same message would run again.",
        ),
        EventState::PendingHandoff => verdict(
            "handed-off",
            "Its work was handed to an external job, which is never recorded.",
        ),
        EventState::RetryScheduled => verdict(
            "failed",
            "Its handler failed and is tried again; the success of a retry is recorded for it.",
        ),
        EventState::Failed => verdict(
            "failed",
            "Its handler failed and no retry is left; it is recorded once a resubmission succeeds.",
        ),
        EventState::Deferred => verdict(
            "deferred",
            "It is parked behind the event that blocks its session, and is recorded once it was \
             handled.",
        ),
        EventState::DeadLettered => verdict(
            "dead-lettered",
            "It was dead-lettered, which is never recorded.",
        ),
        EventState::Unsupported => verdict(
            "unsupported",
            "The endpoint has no handler for it, which is never recorded.",
        ),
        EventState::Skipped => verdict(
            "skipped",
            "An operator gave it up, which is never recorded: the same message would run.",
        ),
        EventState::Discarded => verdict(
            "discarded",
            "Its failure was classified as one that needs no success, which is never recorded: \
             the same message would run again.",
        ),
        EventState::Duplicate => verdict(
            "expired",
            "It was skipped because its id was on record: its own success, or that of another \
             message with the same id. The record has expired since.",
        ),
        _ => verdict("pending", "It is on its way to a handler."),
    })
}

/// How many deliveries of the message were skipped.
fn duplicates(traces: &[MessageTrace]) -> u64 {
    let reports = traces.iter().flat_map(|trace| &trace.reports);
    let duplicates = reports.filter(|report| report.kind == ReportKind::Duplicate);
    u64::try_from(duplicates.count()).unwrap_or(u64::MAX)
}

fn page(view: &ExplainView, traces: &[MessageTrace], recorded_at: Option<Timestamp>) -> String {
    let mut text = fields(&[
        ("endpoint", Some(view.endpoint.clone())),
        ("message", Some(view.message_id.clone())),
        ("verdict", Some(view.verdict.to_owned())),
        ("recorded", recorded_at.map(instant)),
        ("duplicates", view.duplicates.map(|count| count.to_string())),
    ]);
    text.push_str(&format!("\n{}\n", view.explanation));
    for trace in traces {
        text.push_str(&format!(
            "\n{} is {} since {}\n",
            crate::output::plain(&trace.event.key.to_string()),
            trace.event.state,
            instant(trace.event.state_since)
        ));
        text.push_str(&EventView::history(&trace.reports));
    }
    text
}
