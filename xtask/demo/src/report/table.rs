use std::fmt::{self, Display, Write};

use super::{Report, point, reason, shown};
use crate::account::{Again, Cause, Totals};
use crate::operator::Verdict;
use crate::supervise::Aftermath;

/// How many set-aside messages are shown one by one.
const SHOWN: usize = 20;

/// The closing report for people.
pub(crate) fn table(report: &Report<'_>) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write(report, &mut text);
    text
}

fn write(report: &Report<'_>, out: &mut String) -> fmt::Result {
    let account = report.account;
    rows(report, &account.totals, out)?;
    kills(report.kills, out)?;
    executed_again(&account.executed_again, out)?;
    set_aside(report, out)?;
    second_act(report.verdict, out)?;
    findings(report, out)?;
    if let Some(directory) = &report.kept {
        writeln!(
            out,
            "The queue, the inbox, the ledger and the consumer's log are in {}",
            directory.display()
        )?;
    }
    Ok(())
}

fn findings(report: &Report<'_>, out: &mut String) -> fmt::Result {
    let of_messages = report.account.findings.iter().map(ToString::to_string);
    let findings: Vec<String> = of_messages
        .chain(report.verdict.findings.iter().cloned())
        .collect();
    let count = match findings.len() {
        0 => return writeln!(out, "\nEvery message is accounted for."),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    writeln!(out, "\n{count}:")?;
    findings
        .iter()
        .try_for_each(|finding| writeln!(out, "  {finding}"))
}

/// The operator's part of the table.
fn second_act(verdict: &Verdict, out: &mut String) -> fmt::Result {
    writeln!(out, "\nwith an operator")?;
    let mended = format!("{}, its cause mended", verdict.resubmitted);
    row(out, "resubmitted", 1, mended)?;
    let outside = format!("{}, completed from outside", verdict.handed_off);
    row(out, "handed off", 1, outside)?;
    row(
        out,
        "parked and replayed",
        verdict.replayed,
        "behind these two",
    )?;
    row(out, "lost", verdict.lost, "")?;
    let in_order = if verdict.in_order { "yes" } else { "no" };
    row(out, "in order", in_order, "2 sessions verified")
}

fn rows(report: &Report<'_>, totals: &Totals, out: &mut String) -> fmt::Result {
    let bad = report.reading.bad_lines.len();
    if bad > 0 {
        let note = format!("of {}, left out", report.reading.lines);
        row(out, "bad lines", bad, note)?;
    }
    row(
        out,
        "published",
        totals.published,
        format!(
            "{} events, {} of them sent twice",
            report.plan.events.len(),
            totals.published_again
        ),
    )?;
    row(
        out,
        "delivered",
        totals.delivered,
        format!(
            "in {} deliveries; repeated {}, retries {}, requests to replay {}",
            totals.deliveries,
            totals.redeliveries,
            totals.retry_deliveries,
            totals.drain_deliveries
        ),
    )?;
    row(
        out,
        "handled",
        totals.handled,
        "the work of each is in the ledger",
    )?;
    row(
        out,
        "duplicates skipped",
        totals.duplicates,
        format!(
            "and repeated deliveries of handled messages: {}",
            totals.redeliveries_skipped
        ),
    )?;
    row(
        out,
        "retried",
        totals.retried,
        format!("failed attempts {}", totals.failed_attempts),
    )?;
    row(
        out,
        "parked and replayed",
        totals.parked,
        "behind a failed message of their session",
    )?;
    let again = if totals.executed_again > 0 {
        "see below"
    } else {
        ""
    };
    row(out, "executed again", totals.executed_again, again)?;
    row(out, "dead-lettered", totals.dead_lettered, "")?;
    row(
        out,
        "unsupported",
        totals.unsupported,
        "no handler takes the type",
    )?;
    row(out, "lost", totals.lost, "")?;
    row(
        out,
        "out of order",
        totals.out_of_order,
        match totals.sessions {
            1 => "1 session verified".to_owned(),
            sessions => format!("{sessions} sessions verified"),
        },
    )
}

fn row(out: &mut String, name: &str, count: impl Display, note: impl Display) -> fmt::Result {
    let line = format!("{name:<20}{count:>7}  {note}");
    writeln!(out, "{}", line.trim_end())
}

fn kills(kills: &[Aftermath], out: &mut String) -> fmt::Result {
    if kills.is_empty() {
        return writeln!(
            out,
            "\nNo kill: no event of the file is handled and recorded, so none could be held."
        );
    }
    writeln!(out)?;
    for Aftermath {
        run,
        kill,
        unrecorded,
        unsettled,
        ..
    } in kills
    {
        let held = kill
            .message_id()
            .map(|id| format!(" of {}", shown(id)))
            .unwrap_or_default();
        writeln!(
            out,
            "kill {run} {}{held}: {} handled and not recorded, {} recorded and not settled",
            point(kill),
            unrecorded.len(),
            unsettled.len()
        )?;
    }
    Ok(())
}

fn executed_again(again: &[Again], out: &mut String) -> fmt::Result {
    if again.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nExecuted again. A handler's effects and the record of them are two commits here, and what \
         falls\nbetween them runs again (`process_in` makes them one):"
    )?;
    for one in again {
        let causes: Vec<String> = one.causes.iter().map(|cause| words(*cause)).collect();
        let times = match one.times {
            2 => String::new(),
            times => format!("{times} times; "),
        };
        writeln!(
            out,
            "  {}: {times}{}",
            shown(&one.message_id),
            causes.join("; ")
        )?;
    }
    Ok(())
}

fn words(cause: Cause) -> String {
    match cause {
        Cause::KilledBeforeRecord { run } => {
            format!("kill {run} came after the ledger entry and before the record")
        }
        Cause::LockExpired { run } => format!(
            "consumer {run} was too slow to renew its lock, so the queue delivered it again"
        ),
        Cause::Unrecognisable => "its id is unusable, so the inbox can't recognise it".to_owned(),
        Cause::Unexplained => "nothing explains it".to_owned(),
    }
}

fn set_aside(report: &Report<'_>, out: &mut String) -> fmt::Result {
    let set_aside = &report.account.set_aside;
    if set_aside.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSet aside for an operator:")?;
    for (sent, fate) in set_aside.iter().take(SHOWN) {
        writeln!(
            out,
            "  line {} {}: {}",
            sent.line,
            shown(&sent.message_id),
            reason(sent, fate)
        )?;
    }
    match set_aside.len().checked_sub(SHOWN) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "  … and {more} more (--json lists all)"),
    }
}
