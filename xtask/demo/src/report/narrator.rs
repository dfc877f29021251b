use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{point, shown};
use crate::events::Reading;
use crate::plan::{Kill, Plan};
use crate::supervise::Aftermath;

/// How many bad lines are shown one by one.
const SHOWN_LINES: usize = 20;

/// Tells the story while it happens, on standard error: a bar on a terminal, plain lines else.
pub(crate) struct Narrator {
    bar: ProgressBar,
    /// Tenths that plain lines have told of.
    told: Option<AtomicUsize>,
}

impl Narrator {
    pub(crate) fn new() -> Self {
        let terminal = stderr().is_terminal();
        let target = if terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template(
            "{spinner} {wide_bar} {pos}/{len} messages, {elapsed} {msg}",
        ) {
            bar.set_style(style);
        }
        Self {
            bar,
            told: (!terminal).then(|| AtomicUsize::new(0)),
        }
    }

    pub(crate) fn say(&self, text: &str) {
        if self.told.is_some() {
            eprintln!("{text}");
        } else {
            self.bar.suspend(|| eprintln!("{text}"));
        }
    }

    /// What was read.
    pub(crate) fn read(&self, reading: &Reading) {
        let bad_lines = reading
            .bad_lines
            .iter()
            .map(|bad| format!("line {}: {}; left out", bad.line, bad.reason));
        self.some_of(bad_lines);
        let remarks = reading
            .remarks
            .iter()
            .map(|remark| format!("line {}: {}", remark.line, remark.text));
        self.some_of(remarks);
    }

    fn some_of(&self, lines: impl ExactSizeIterator<Item = String>) {
        let more = lines.len().saturating_sub(SHOWN_LINES);
        for line in lines.take(SHOWN_LINES) {
            self.say(&line);
        }
        if more > 0 {
            self.say(&format!("… and {more} more such lines (--json lists all)"));
        }
    }

    pub(crate) fn begin(&self, plan: &Plan) {
        let total = plan.publications.len();
        self.bar
            .set_length(u64::try_from(total).unwrap_or(u64::MAX));
        self.say(&format!(
            "events: {}, messages: {total}, failing at first: {}, kills: {}",
            plan.events.len(),
            plan.failures.len(),
            plan.kills(),
        ));
    }

    /// So many messages need no more work.
    pub(crate) fn advance(&self, handled: usize) {
        let position = u64::try_from(handled).unwrap_or(u64::MAX);
        // Work that a kill undid doesn't move the bar back.
        self.bar.set_position(position.max(self.bar.position()));
        let Some(told) = &self.told else { return };
        let total = usize::try_from(self.bar.length().unwrap_or(0)).unwrap_or(usize::MAX);
        let tenths = (handled * 10).checked_div(total).unwrap_or(0);
        if tenths > told.fetch_max(tenths, Ordering::Relaxed) {
            eprintln!("{handled} of {total} messages");
        }
    }

    pub(crate) fn killed(&self, aftermath: &Aftermath, of: usize) {
        let Aftermath { run, pid, kill, .. } = aftermath;
        let held = match kill {
            Kill::BeforeRecord(id) | Kill::BeforeSettlement(id) => {
                format!(", holding {}", shown(id))
            }
            Kill::AfterDeliveries(_) => String::new(),
        };
        self.bar.set_message(format!("kill {run}/{of}"));
        self.say(&format!(
            "kill {run} of {of}: consumer {pid} {}{held}",
            point(kill)
        ));
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
