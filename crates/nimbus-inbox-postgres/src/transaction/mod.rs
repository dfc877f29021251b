//! The record inside the handler's own transaction (INB-41).

mod client;
mod open;
mod pooled;
#[cfg(feature = "sqlx")]
mod sqlx;

use std::fmt;

pub use open::PostgresTransaction;
#[cfg(feature = "sqlx")]
pub use sqlx::{SqlxLease, SqlxTransaction};

use crate::pool::Leased;

/// A connection of the pool, for one transaction.
///
/// It goes back to the pool once the transaction is over, also where that was dropped.
pub struct PostgresLease(pub(crate) Leased);

impl fmt::Debug for PostgresLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresLease").finish_non_exhaustive()
    }
}
