//! Why a message is recorded as done, or is not.

use std::process::ExitCode;

use clap::Args;
use nimbus_inbox_core::Timestamp;
use nimbus_resolver::{MessageTrace, ReportKind};
use serde::Serialize;

use super::events::found;
use super::verdict::Verdict;
use crate::failure::Failure;
use crate::output::{EventView, HistoryView, Output, fields, instant};
use crate::place::Place;

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
    let verdict = Verdict::of(endpoint, &arguments.message_id, &traces, resolver.is_some()).await?;
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
    output.show(&view, || page(&view, &traces, verdict.recorded_at))?;
    Ok(found(view.verdict != "never-seen"))
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
