use std::fmt;

/// Where an event may be handled once more than its publisher meant (INB-40), and what else is
/// exempt from the invariants and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Window {
    /// The handler's effect was there and the record was not yet durable.
    EffectNotRecorded,
    /// Two receivers had the message at a time.
    Concurrent,
    /// A crash came between source and own id, which this store can't record at once.
    RecordsApart,
    /// The event was handed off, skipped or discarded, and was delivered again.
    SettledOtherwise,
    /// An operator resubmitted an event that did not block its session.
    OutOfTurn,
    /// The operator asked for one more execution of the event that blocks.
    Resubmitted,
    /// The message has no usable id, or the subscriber no inbox.
    NotDeduplicated,
    /// No repeat: a receiver recorded an event after its lock had run out, and the event blocks
    /// its session, as its successor's handler failed. An operator lifts the block.
    BlockedThoughDone,
    /// No repeat: a receiver whose lock had run out died between copy and state. The copy of an
    /// event that was settled meanwhile stays until the next drain, which skips it.
    CopyLeft,
    /// No repeat: a late request was answered as SUB-11 and SUB-15 prescribe.
    LateAnswer,
}

/// All windows.
pub(crate) const WINDOWS: [(Window, &str); 10] = [
    (Window::EffectNotRecorded, "effect before its record"),
    (Window::Concurrent, "two receivers at a time"),
    (Window::RecordsApart, "between source and own id"),
    (
        Window::SettledOtherwise,
        "handed off, skipped or discarded before",
    ),
    (Window::OutOfTurn, "resubmitted without blocking"),
    (Window::Resubmitted, "resubmitted while blocking"),
    (Window::NotDeduplicated, "no usable id or no inbox"),
    (Window::BlockedThoughDone, "block by a completed event"),
    (Window::CopyLeft, "parked copy of a settled event"),
    (Window::LateAnswer, "prescribed answer to a late request"),
];

/// How often each window was met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Windows([u64; WINDOWS.len()]);

impl Windows {
    pub(crate) fn count(&mut self, window: Window) {
        self.0[window as usize] += 1;
    }

    /// How often this one was met.
    #[must_use]
    pub fn of(&self, window: Window) -> u64 {
        self.0[window as usize]
    }

    /// Adds those of another schedule.
    pub fn add(&mut self, other: &Self) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum += count;
        }
    }
}

impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (window, name) in WINDOWS {
            writeln!(f, "  {:>12}  {name}", self.of(window))?;
        }
        Ok(())
    }
}
