use std::ops::{Index, IndexMut};

/// What may happen beside the undisturbed course of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbance {
    /// A process dies.
    Crash,
    /// A receiver's lock runs out while it works on.
    Expiry,
    /// A handler fails, worth a retry.
    Failure,
    /// A handler hands its event to an external job.
    Handoff,
    /// A handler discards its event.
    Discard,
    /// A handler has its event dead-lettered.
    DeadLetter,
    /// A handler meets an outage.
    Outage,
    /// An operator gives a command.
    Command,
    /// A message is published a second time.
    Duplicate,
    /// Another task goes on while this one could.
    Switch,
    /// Something arrives before the system is idle.
    Early,
}

const KINDS: usize = 11;

/// How often each disturbance may happen, and how many may happen in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    each: [u8; KINDS],
    /// How many disturbances there may be in one schedule: the depth.
    pub depth: u8,
}

impl Default for Limits {
    /// Nothing may happen, to any depth.
    fn default() -> Self {
        Self {
            each: [0; KINDS],
            depth: u8::MAX,
        }
    }
}

impl Limits {
    /// Allows a disturbance so many times.
    #[must_use]
    pub fn with(mut self, disturbance: Disturbance, times: u8) -> Self {
        self[disturbance] = times;
        self
    }

    /// Allows so many disturbances in all.
    #[must_use]
    pub fn to_depth(mut self, depth: u8) -> Self {
        self.depth = depth;
        self
    }

    /// Whether one more may happen.
    pub(crate) fn allows(&self, disturbance: Disturbance) -> bool {
        self.depth > 0 && self[disturbance] > 0
    }

    /// One has happened.
    pub(crate) fn spend(&mut self, disturbance: Disturbance) {
        self.depth = self.depth.saturating_sub(1);
        self[disturbance] = self[disturbance].saturating_sub(1);
    }
}

impl Index<Disturbance> for Limits {
    type Output = u8;

    fn index(&self, disturbance: Disturbance) -> &u8 {
        &self.each[disturbance as usize]
    }
}

impl IndexMut<Disturbance> for Limits {
    fn index_mut(&mut self, disturbance: Disturbance) -> &mut u8 {
        &mut self.each[disturbance as usize]
    }
}
