//! Keeping one report.

use nimbus_messaging::EventId;
use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension, named_params};

use super::fold::{self, Standing};
use super::rows::{moment, state};
use crate::{EventState, Report, ReportKind};

/// What came of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Applied {
    /// It was kept; the event is in this state.
    Kept(EventState),
    /// It was kept before, and changed nothing.
    Repeated,
    /// It is about an event that nothing else is known of, and says nothing of it.
    Ignored,
}

/// An event's row before a report.
struct Known {
    event: i64,
    standing: Standing,
    last_occurred: i64,
}

pub(super) fn apply(db: &Connection, report: &Report) -> rusqlite::Result<Applied> {
    match known(db, report)? {
        None => first(db, report),
        Some(known) => further(db, report, &known),
    }
}

fn known(db: &Connection, report: &Report) -> rusqlite::Result<Option<Known>> {
    db.prepare_cached(
        "select event, state, state_since, state_entry, last_occurred from nimbus_resolver_event
         where endpoint_key = ?1 and event_key = ?2",
    )?
    .query_row(
        (report.key.endpoint_column(), report.key.subject.column()),
        |row| {
            Ok(Known {
                event: row.get(0)?,
                standing: Standing {
                    state: state(row, 1)?,
                    since: moment(row, 2)?,
                    entry: row.get(3)?,
                },
                last_occurred: row.get(4)?,
            })
        },
    )
    .optional()
}

/// The first that is heard of an event.
fn first(db: &Connection, report: &Report) -> rusqlite::Result<Applied> {
    let Some(Standing { state, .. }) = fold::step(None, &fold::last_step(db, 0, 0, report)?) else {
        return Ok(Applied::Ignored);
    };
    let event: i64 = db
        .prepare_cached(
            "insert into nimbus_resolver_event
                 (endpoint_key, event_key, endpoint, event_id, message_id, state, state_since,
                  state_entry, last_occurred, reports, duplicates, first_seen, last_seen)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?7, 0, 0, ?8, ?8) returning event",
        )?
        .query_row(
            (
                report.key.endpoint_column(),
                report.key.subject.column(),
                report.key.endpoint.as_str(),
                report.key.event_id().map(EventId::as_str),
                source_of(report),
                state.as_str(),
                report.occurred_at.unix_ticks(),
                report.received_at.unix_ticks(),
            ),
            |row| row.get(0),
        )?;
    let entry = keep(db, event, report)?.unwrap_or_default();
    let standing = Standing {
        state,
        since: report.occurred_at,
        entry,
    };
    update(db, event, report, standing, true)?;
    Ok(Applied::Kept(state))
}

fn further(db: &Connection, report: &Report, known: &Known) -> rusqlite::Result<Applied> {
    let Some(entry) = keep(db, known.event, report)? else {
        return Ok(Applied::Repeated);
    };
    // One that was overtaken on its way counts at the place where it was sent.
    let in_order = report.occurred_at.unix_ticks() >= known.last_occurred;
    let standing = if in_order {
        let step = fold::last_step(db, known.event, entry, report)?;
        fold::step(Some(known.standing), &step)
    } else {
        let folded = fold::fold(fold::steps(db, known.event)?);
        folded.last().and_then(|(_, standing)| *standing)
    };
    let standing = standing.unwrap_or(known.standing);
    update(db, known.event, report, standing, in_order)?;
    Ok(Applied::Kept(standing.state))
}

/// Adds a report to the history; `None` when it is there.
fn keep(db: &Connection, event: i64, report: &Report) -> rusqlite::Result<Option<i64>> {
    let details = &report.details;
    db.prepare_cached(
        "insert into nimbus_resolver_report
             (event, message_id, kind, cause, occurred_at, began_at, received_at,
              parent_message_id, inbox_message_id, retry_count, queue_time_ms, processing_time_ms,
              error_type, error_text, dead_letter_reason, dead_letter_description, handoff_reason,
              external_job_id, expected_by, next_retry_at)
         values (:event, :message_id, :kind, :cause, :occurred_at, :began_at, :received_at,
              :parent_message_id, :inbox_message_id, :retry_count, :queue_time_ms,
              :processing_time_ms, :error_type, :error_text, :dead_letter_reason,
              :dead_letter_description, :handoff_reason, :external_job_id, :expected_by,
              :next_retry_at)
         on conflict (event, message_id) do nothing returning entry",
    )?
    .query_row(
        named_params! {
            ":event": event,
            ":message_id": report.message_id,
            ":kind": report.kind.as_str(),
            ":cause": report.cause.as_str(),
            ":occurred_at": report.occurred_at.unix_ticks(),
            ":began_at": report.began_at.unix_ticks(),
            ":received_at": report.received_at.unix_ticks(),
            ":parent_message_id": report.parent_message_id,
            ":inbox_message_id": report.inbox_message_id,
            ":retry_count": report.retry_count,
            ":queue_time_ms": report.queue_time_ms,
            ":processing_time_ms": report.processing_time_ms,
            ":error_type": details.error_type,
            ":error_text": details.error_text,
            ":dead_letter_reason": details.dead_letter_reason,
            ":dead_letter_description": details.dead_letter_description,
            ":handoff_reason": details.handoff_reason,
            ":external_job_id": details.external_job_id,
            ":expected_by": details.expected_by.map(nimbus_inbox_core::Timestamp::unix_ticks),
            ":next_retry_at": details.next_retry_at.map(nimbus_inbox_core::Timestamp::unix_ticks),
        },
        |row| row.get(0),
    )
    .optional()
}

/// Brings an event's row up to a report. What is known of it already stays where the report is
/// silent; one that was overtaken only fills in what is missing.
fn update(
    db: &Connection,
    event: i64,
    report: &Report,
    standing: Standing,
    in_order: bool,
) -> rusqlite::Result<()> {
    let (identity, content) = (&report.identity, report.content.as_ref());
    let wins = |column: &str| {
        if in_order {
            format!("{column} = coalesce(:{column}, {column})")
        } else {
            format!("{column} = coalesce({column}, :{column})")
        }
    };
    let columns: Vec<String> = [
        "event_type",
        "session_id",
        "correlation_id",
        "originating_message_id",
        "originating_from",
        "cloud_event_id",
        "cloud_event_source",
        "cloud_event_type",
        "cloud_event_subject",
        "retry_count",
        "content_type_id",
        "event_json",
    ]
    .into_iter()
    .map(wins)
    .collect();
    db.prepare_cached(&format!(
        "update nimbus_resolver_event set {},
             state = :state, state_since = :state_since, state_entry = :state_entry,
             last_occurred = max(last_occurred, :occurred_at),
             message_id = coalesce(message_id, :message_id),
             reports = reports + 1, duplicates = duplicates + :duplicates,
             first_seen = min(first_seen, :received_at), last_seen = max(last_seen, :received_at)
         where event = :event",
        columns.join(", ")
    ))?
    .execute(named_params! {
        ":event": event,
        ":state": standing.state.as_str(),
        ":state_since": standing.since.unix_ticks(),
        ":state_entry": standing.entry,
        ":occurred_at": report.occurred_at.unix_ticks(),
        ":received_at": report.received_at.unix_ticks(),
        ":duplicates": i64::from(report.kind == ReportKind::Duplicate),
        ":message_id": source_of(report),
        ":event_type": identity.event_type,
        ":session_id": identity.session_id,
        ":correlation_id": identity.correlation_id,
        ":originating_message_id": identity.originating_message_id,
        ":originating_from": identity.originating_from,
        ":cloud_event_id": identity.cloud_event_id,
        ":cloud_event_source": identity.cloud_event_source,
        ":cloud_event_type": identity.cloud_event_type,
        ":cloud_event_subject": identity.cloud_event_subject,
        ":retry_count": report.retry_count,
        ":content_type_id": content.and_then(|event| event.event_type_id.as_deref()),
        ":event_json": content.and_then(|event| event.event_json.as_deref()),
    })
    .map(drop)
}

/// The id that the broker first delivered the event with.
fn source_of(report: &Report) -> Option<&str> {
    let own = match report.kind {
        ReportKind::Requested => Some(&report.message_id),
        // It stands for itself alone.
        ReportKind::Resubmitted | ReportKind::Noted | ReportKind::Refused => None,
        _ if report.cause == crate::Cause::Event => report.parent_message_id.as_ref(),
        _ => None,
    };
    report.inbox_message_id.as_ref().or(own).map(String::as_str)
}
