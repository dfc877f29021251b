use std::time::Duration;

use anyhow::bail;
use nimbus_transport_embedded::QueueCounts;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

/// How often the queue is looked at.
const TICK: Duration = Duration::from_millis(100);

/// Without any change for this long, the run has come to a standstill.
const STANDSTILL: Duration = Duration::from_secs(30);

/// Follows one consumer's progress.
pub(super) struct Watch {
    ticks: Interval,
    total: usize,
    /// Publications that are sent later.
    unsent: usize,
    deliveries: u64,
    /// Messages that were still to be handled at the last look.
    left: Option<u64>,
    changed: Instant,
}

impl Watch {
    pub(super) fn new(total: usize, unsent: usize) -> Self {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            ticks,
            total,
            unsent,
            deliveries: 0,
            left: None,
            changed: Instant::now(),
        }
    }

    /// Resolves when it is time to look again; dropping it loses nothing.
    pub(super) async fn tick(&mut self) {
        self.ticks.tick().await;
    }

    pub(super) fn delivered(&mut self) {
        self.deliveries += 1;
        self.changed = Instant::now();
    }

    pub(super) fn deliveries(&self) -> u64 {
        self.deliveries
    }

    /// Publications that need no more work, as far as the last look tells.
    pub(super) fn handled(&self) -> usize {
        let left = usize::try_from(self.left.unwrap_or(0)).unwrap_or(usize::MAX);
        self.total.saturating_sub(self.unsent.saturating_add(left))
    }

    /// Takes note of what the queue holds; `true` when that is nothing. What is being handled still
    /// stands in line, so nothing means done.
    ///
    /// # Errors
    ///
    /// When nothing has changed for too long.
    pub(super) fn look(&mut self, counts: &QueueCounts) -> anyhow::Result<bool> {
        let left = counts.ready + counts.scheduled + counts.deferred + counts.parked;
        if self.left.replace(left) != Some(left) {
            self.changed = Instant::now();
        }
        if left > 0 && self.changed.elapsed() > STANDSTILL {
            bail!(
                "nothing has moved for {} s: {} messages in line ({} of {} sessions locked), {} \
                 scheduled, {} parked",
                STANDSTILL.as_secs(),
                counts.ready,
                counts.locked_lanes,
                counts.lanes,
                counts.scheduled,
                counts.parked,
            );
        }
        Ok(left == 0)
    }
}
