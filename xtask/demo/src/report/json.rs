use serde::Serialize;

use super::{Report, reason};
use crate::account::{Cause, Fate, Totals};
use crate::events::{BadLine, Remark};
use crate::operator::Verdict;
use crate::plan::Kill;

/// The closing report for programs. Its fields are stable; more may come.
#[derive(Serialize)]
struct Document<'a> {
    ok: bool,
    seed: u64,
    events: Events<'a>,
    totals: &'a Totals,
    kills: Vec<KillDocument<'a>>,
    executed_again: Vec<AgainDocument<'a>>,
    set_aside: Vec<SetAsideDocument<'a>>,
    operator: &'a Verdict,
    findings: Vec<String>,
    directory: Option<String>,
}

#[derive(Serialize)]
struct Events<'a> {
    lines: usize,
    events: usize,
    bad_lines: &'a [BadLine],
    remarks: &'a [Remark],
}

#[derive(Serialize)]
struct KillDocument<'a> {
    consumer: u32,
    pid: u32,
    point: &'static str,
    message_id: Option<&'a str>,
    hit: bool,
    handled_not_recorded: Vec<&'a str>,
    recorded_not_settled: Vec<&'a str>,
}

#[derive(Serialize)]
struct AgainDocument<'a> {
    message_id: &'a str,
    times: usize,
    causes: Vec<&'static str>,
}

#[derive(Serialize)]
struct SetAsideDocument<'a> {
    line: usize,
    message_id: &'a str,
    fate: &'static str,
    reason: String,
}

/// One JSON document, indented.
pub(crate) fn document(report: &Report<'_>) -> serde_json::Result<String> {
    let (reading, account) = (report.reading, report.account);
    serde_json::to_string_pretty(&Document {
        ok: account.is_clean() && report.verdict.is_clean(),
        seed: report.seed,
        events: Events {
            lines: reading.lines,
            events: report.plan.events.len(),
            bad_lines: &reading.bad_lines,
            remarks: &reading.remarks,
        },
        totals: &account.totals,
        kills: report
            .kills
            .iter()
            .map(|aftermath| KillDocument {
                consumer: aftermath.run,
                pid: aftermath.pid,
                point: point(&aftermath.kill),
                message_id: aftermath.kill.message_id(),
                hit: aftermath.hit(),
                handled_not_recorded: texts(aftermath.unrecorded.values()),
                recorded_not_settled: texts(aftermath.unsettled.values()),
            })
            .collect(),
        executed_again: account
            .executed_again
            .iter()
            .map(|again| AgainDocument {
                message_id: &again.message_id,
                times: again.times,
                causes: again.causes.iter().map(|cause| name(*cause)).collect(),
            })
            .collect(),
        set_aside: account
            .set_aside
            .iter()
            .map(|(sent, fate)| SetAsideDocument {
                line: sent.line,
                message_id: &sent.message_id,
                fate: match fate {
                    Fate::DeadLettered(_) => "dead_lettered",
                    _ => "unsupported",
                },
                reason: reason(sent, fate),
            })
            .collect(),
        operator: report.verdict,
        findings: account.findings.iter().map(ToString::to_string).collect(),
        directory: report.kept.as_ref().map(|path| path.display().to_string()),
    })
}

fn texts<'a>(ids: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    ids.map(String::as_str).collect()
}

fn point(kill: &Kill) -> &'static str {
    match kill {
        Kill::BeforeRecord(_) => "before_record",
        Kill::BeforeSettlement(_) => "before_settlement",
        Kill::AfterDeliveries(_) => "by_chance",
    }
}

fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::KilledBeforeRecord { .. } => "killed_before_record",
        Cause::LockExpired { .. } => "lock_expired",
        Cause::Unrecognisable => "unusable_id",
        Cause::Unexplained => "unexplained",
    }
}
