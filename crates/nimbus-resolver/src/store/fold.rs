//! The state that a history leads to, in the order in which its reports were sent.

use std::collections::HashSet;

use nimbus_inbox_core::Timestamp;
use nimbus_sqlite::rusqlite::{self, Connection};

use super::rows::{kind, moment};
use crate::transition::{Move, next};
use crate::{Cause, EventState, Report, ReportKind};

/// A report of a history, as far as it decides on a state.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) entry: i64,
    pub(super) kind: ReportKind,
    pub(super) cause: Cause,
    pub(super) occurred_at: Timestamp,
    pub(super) began_at: Timestamp,
    message_id: String,
    parent_message_id: Option<String>,
    /// Its message was attempted before, without success.
    attempted: bool,
}

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) state: EventState,
    /// When the report was sent that led there.
    pub(super) since: Timestamp,
    /// That report.
    pub(super) entry: i64,
}

/// The state that the reports of one event lead to, as a store that kept them in this order of
/// arrival has it; `None` where they say nothing of it.
///
/// Reports count in the order in which they were [sent](Report::occurred_at), those of one instant
/// in the order given. One whose message id came before counts as repeated.
#[must_use]
pub fn state_after(reports: &[Report]) -> Option<EventState> {
    let mut ids = HashSet::new();
    let unrepeated = (0_i64..).zip(reports);
    let unrepeated = unrepeated.filter(|(_, report)| ids.insert(report.message_id.as_str()));
    let mut steps: Vec<_> = unrepeated
        .map(|(entry, report)| Step::of(report, entry))
        .collect();
    steps.sort_by_key(|step| step.occurred_at);
    let (_, standing) = fold(steps).pop()?;
    Some(standing?.state)
}

/// Where one more report leads.
pub(super) fn step(standing: Option<Standing>, step: &Step) -> Option<Standing> {
    let report = Move {
        kind: step.kind,
        cause: step.cause,
        newer: standing.is_none_or(|standing| step.began_at >= standing.since),
        attempted: step.attempted,
    };
    let moved = next(standing.map(|standing| standing.state), report);
    moved.map_or(standing, |state| {
        Some(Standing {
            state,
            since: step.occurred_at,
            entry: step.entry,
        })
    })
}

/// Where a whole history leads. `steps` are in the order in which they were sent; each is given
/// back with the standing after it.
pub(super) fn fold(steps: Vec<Step>) -> Vec<(Step, Option<Standing>)> {
    let (mut answered, mut resubmissions) = (HashSet::new(), HashSet::new());
    let mut attempts = HashSet::new();
    let mut standing = None;
    steps
        .into_iter()
        .map(|mut now| {
            let parent = now.parent_message_id.clone();
            let of_resubmission = parent.as_ref().is_some_and(|id| resubmissions.contains(id));
            now.resolve(answered.contains(&now.message_id), of_resubmission);
            now.attempted = parent.as_ref().is_some_and(|id| attempts.contains(id));
            if now.kind.is_attempt_without_success() {
                attempts.extend(parent.clone());
            }
            answered.extend(parent);
            if now.kind == ReportKind::Resubmitted {
                resubmissions.insert(now.message_id.clone());
            }
            standing = step(standing, &now);
            (now, standing)
        })
        .collect()
}

impl Step {
    fn of(report: &Report, entry: i64) -> Self {
        Self {
            entry,
            kind: report.kind,
            cause: report.cause,
            occurred_at: report.occurred_at,
            began_at: report.began_at,
            message_id: report.message_id.clone(),
            parent_message_id: report.parent_message_id.clone(),
            attempted: false,
        }
    }

    /// What it means beside the reports that were sent before it.
    fn resolve(&mut self, answered: bool, of_resubmission: bool) {
        if self.kind == ReportKind::Resubmitted && answered {
            // Noted by the tool after the endpoint has answered: it is no longer on its way.
            self.kind = ReportKind::Noted;
        }
        if self.cause == Cause::Unknown && of_resubmission {
            self.cause = Cause::Resubmission;
        }
    }
}

/// Every report of an event, in the order in which they were sent.
pub(super) fn steps(db: &Connection, event: i64) -> rusqlite::Result<Vec<Step>> {
    db.prepare_cached(
        "select entry, kind, cause, occurred_at, began_at, message_id, parent_message_id
         from nimbus_resolver_report where event = ?1 order by occurred_at, entry",
    )?
    .query_map([event], |row| {
        Ok(Step {
            entry: row.get(0)?,
            kind: kind(row, 1)?,
            cause: Cause::from_name(&row.get::<_, String>(2)?),
            occurred_at: moment(row, 3)?,
            began_at: moment(row, 4)?,
            message_id: row.get(5)?,
            parent_message_id: row.get(6)?,
            attempted: false,
        })
    })?
    .collect()
}

/// The last report of an event, with what it means beside the others.
pub(super) fn last_step(
    db: &Connection,
    event: i64,
    entry: i64,
    report: &Report,
) -> rusqlite::Result<Step> {
    let mut step = Step::of(report, entry);
    if matches!(step.kind, ReportKind::Duplicate | ReportKind::Completed) {
        step.attempted = attempted(db, event, &step)?;
    }
    let asks = step.kind == ReportKind::Resubmitted || step.cause == Cause::Unknown;
    if asks {
        let answered = db
            .prepare_cached(
                "select 1 from nimbus_resolver_report
                 where event = ?1 and parent_message_id = ?2",
            )?
            .exists((event, &report.message_id))?;
        let of_resubmission = db
            .prepare_cached(
                "select 1 from nimbus_resolver_report
                 where event = ?1 and message_id = ?2 and kind = 'resubmitted'",
            )?
            .exists((event, &report.parent_message_id))?;
        step.resolve(answered, of_resubmission);
    }
    Ok(step)
}

fn attempted(db: &Connection, event: i64, step: &Step) -> rusqlite::Result<bool> {
    let mut before = db.prepare_cached(
        "select kind from nimbus_resolver_report
         where event = ?1 and parent_message_id = ?2 and entry <> ?3",
    )?;
    let about = (event, &step.parent_message_id, step.entry);
    for found in before.query_map(about, |row| kind(row, 0))? {
        if found?.is_attempt_without_success() {
            return Ok(true);
        }
    }
    Ok(false)
}
