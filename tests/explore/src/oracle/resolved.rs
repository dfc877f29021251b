//! What the resolver makes of all that it was told.

use nimbus_inbox_core::Timestamp;
use nimbus_inbox_testing::ProcessId;
use nimbus_messaging::Envelope;
use nimbus_resolver::{Cause, EventState, Report, ReportKind, state_after};

use super::Known;
use super::fate::{Fate, Settled};
use crate::event::Event;

impl Known {
    /// Keeps an outcome as the resolver will read it.
    ///
    /// No clock moves between two effects, so that each counts for a microsecond: which of two
    /// instants is the later one decides in the resolver.
    pub(super) fn keep(&mut self, process: ProcessId, event: Event, message: &Envelope, now: u64) {
        let delivery = self.deliveries.current(process);
        let began_at = instant(delivery.map_or(now, |delivery| delivery.since));
        match Report::read(message, Some(instant(now)), instant(now)) {
            Ok(Some(mut report)) => {
                report.began_at = began_at;
                self.fates[event.index()].reports.push(report);
            }
            Ok(None) => self.violate(|| format!("what the resolver is told of {event} is nothing")),
            Err(error) => self.violate(|| format!("the resolver can't use a report: {error}")),
        }
    }

    /// The state that the resolver has an event in is what became of it.
    pub(crate) fn check_resolved(&mut self) {
        let wrong = (0_u8..).zip(&self.fates).find_map(|(number, fate)| {
            let state = state_after(&fate.reports);
            (!fate.agrees(state)).then(|| (Event(number), state, fate.ways.clone()))
        });
        if let Some((event, state, ways)) = wrong {
            let state = state.map_or("unknown", EventState::as_str);
            self.violate(|| {
                format!("{event} was settled as {ways:?}, and the resolver has it as {state}")
            });
        }
    }
}

impl Fate {
    fn agrees(&self, state: Option<EventState>) -> bool {
        let was = |way| self.ways.contains(&way);
        let skipped = self.heard(ReportKind::Skipped, Cause::Command);
        match state {
            Some(EventState::Completed) => {
                let by_answer = self.heard(ReportKind::Completed, Cause::Command);
                was(Settled::Handled)
                    || was(Settled::HandoffCompleted)
                    || was(Settled::Answered)
                    // What an operator said of an event that blocks nothing (SUB-15).
                    || by_answer && !was(Settled::Skipped)
            }
            Some(EventState::Duplicate) => was(Settled::Handled),
            Some(EventState::Skipped) => skipped,
            Some(EventState::Discarded) => was(Settled::Discarded),
            Some(EventState::DeadLettered) => self.given_up,
            Some(EventState::Unsupported) => was(Settled::Unsupported),
            // Nothing is left to come, but after what an operator asked for without a block.
            _ => self
                .reports
                .iter()
                .any(|report| report.cause == Cause::Resubmission),
        }
    }

    fn heard(&self, kind: ReportKind, cause: Cause) -> bool {
        let mut reports = self.reports.iter();
        reports.any(|report| (report.kind, report.cause) == (kind, cause))
    }
}

fn instant(tick: u64) -> Timestamp {
    Timestamp::from_unix_micros(i64::try_from(tick).unwrap_or(i64::MAX))
}
