//! Removing what nobody asks for any more.

use std::num::NonZeroU32;

use nimbus_inbox_core::Timestamp;
use nimbus_sqlite::rusqlite::{self, Connection};

use super::ResolverStore;
use crate::ResolverError;

/// What one purge removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Purged {
    /// Events.
    pub events: u64,
    /// The reports of their histories.
    pub reports: u64,
}

impl ResolverStore {
    /// Removes up to `limit` settled events that were last heard of before `before`, the oldest
    /// first, with their histories. Events that wait for anything stay, however old they are.
    ///
    /// # Errors
    ///
    /// [`ResolverError`].
    ///
    /// # Cancel safety
    ///
    /// Once polled, it removes all of them or none, dropped or not.
    pub async fn purge(
        &self,
        before: Timestamp,
        limit: NonZeroU32,
    ) -> Result<Purged, ResolverError> {
        self.write("purging settled events", move |tx| {
            purge(tx, before.unix_ticks(), limit.get())
        })
        .await
    }
}

/// The states of `EventState::is_settled`.
const EXPIRED: &str = "select event from nimbus_resolver_event
    where last_seen < ?1 and state in ('completed', 'skipped', 'discarded', 'duplicate')
    order by last_seen, event limit ?2";

fn purge(db: &Connection, before: i64, limit: u32) -> rusqlite::Result<Purged> {
    let remove = |sql: &str| -> rusqlite::Result<u64> {
        let removed = db.prepare_cached(sql)?.execute((before, limit))?;
        Ok(u64::try_from(removed).unwrap_or(u64::MAX))
    };
    // Nobody else writes meanwhile, so both select the same.
    let reports = remove(&format!(
        "delete from nimbus_resolver_report where event in ({EXPIRED})"
    ))?;
    let events = remove(&format!(
        "delete from nimbus_resolver_event where event in ({EXPIRED})"
    ))?;
    Ok(Purged { events, reports })
}
