//! The wall clock, injected where behaviour depends on it.

use std::fmt::Debug;
use std::time::SystemTime;

use crate::Timestamp;

/// A source of wall-clock instants.
///
/// Stores that own no server clock stamp their records with one; tests inject their own.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The current instant.
    fn now(&self) -> Timestamp;
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}
