//! SQLite's write lock, of which a file has one for all processes.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::classify;

/// Begins a write transaction, trying until `deadline` or until `is_wanted`
/// says no; then the error is the last try's.
///
/// SQLite's own waiting backs off to a tenth of a second, by which it hardly
/// ever meets the moment between two commits of a process that is busy. So
/// `connection` must be set up not to wait, and the tries are close together.
pub(crate) fn begin_immediate(
    connection: &Connection,
    deadline: Instant,
    is_wanted: impl Fn() -> bool,
) -> rusqlite::Result<Transaction<'_>> {
    while_busy(deadline, is_wanted, || {
        Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
    })
}

/// Tries as long as another connection's lock is the reason to fail.
pub(crate) fn while_busy<T>(
    deadline: Instant,
    is_wanted: impl Fn() -> bool,
    attempt: impl Fn() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let mut pauses = PAUSES.iter().cycle();
    loop {
        match attempt() {
            Err(error) if classify::is_busy(&error) && Instant::now() < deadline && is_wanted() => {
                thread::sleep(pauses.next().copied().unwrap_or_default());
            }
            outcome => return outcome,
        }
    }
}

/// Uneven, so that two who wait don't keep step with each other or with the
/// one they wait for.
const PAUSES: [Duration; 5] = [
    Duration::from_micros(400),
    Duration::from_micros(1_700),
    Duration::from_micros(900),
    Duration::from_micros(3_100),
    Duration::from_micros(1_300),
];
