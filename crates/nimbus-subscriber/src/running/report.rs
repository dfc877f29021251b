use std::fmt;

/// What a subscriber did between start and stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunReport {
    /// Deliveries received, control messages included.
    pub received: u64,
    /// Events whose handler succeeded.
    pub handled: u64,
    /// Messages skipped because their work was done before.
    pub duplicates: u64,
    /// Messages set aside behind a blocked or draining session.
    pub parked: u64,
    /// Parked messages whose handler succeeded, counted in `handled` too.
    pub replayed: u64,
    /// Handler failures that block a session or follow one.
    pub failed: u64,
    /// Retries scheduled.
    pub retries_scheduled: u64,
    /// Events handed to an external job.
    pub handed_off: u64,
    /// Handoffs that an operator reported as completed or failed.
    pub handoffs_settled: u64,
    /// Events that an operator gave up.
    pub skipped: u64,
    /// Events discarded.
    pub discarded: u64,
    /// Events no handler takes.
    pub unsupported: u64,
    /// Messages set aside for an operator.
    pub dead_lettered: u64,
    /// Deliveries given back because something did not answer.
    pub abandoned: u64,
    /// Deliveries left unsettled: stopped before the handler returned, or the lock was lost.
    pub left: u64,
    /// Deliveries still in work when the drain deadline had passed.
    pub unfinished: u64,
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "received {}, handled {} ({} replayed), duplicates skipped {}, failed {}, retries \
             scheduled {}, parked {}, handed off {} (settled {}), skipped by operators {}, \
             discarded {}, unsupported {}, dead-lettered \
             {}, given back {}, unfinished {}",
            self.received,
            self.handled,
            self.replayed,
            self.duplicates,
            self.failed,
            self.retries_scheduled,
            self.parked,
            self.handed_off,
            self.handoffs_settled,
            self.skipped,
            self.discarded,
            self.unsupported,
            self.dead_lettered,
            self.abandoned.saturating_add(self.left),
            self.unfinished,
        )
    }
}
