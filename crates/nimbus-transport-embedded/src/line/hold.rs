use nimbus_sqlite::rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension, ToSql};
use uuid::Uuid;

/// Proves who locked a lane. Fresh for each acceptance, so an earlier holder's never fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LockToken([u8; 16]);

impl LockToken {
    pub(crate) fn random() -> Self {
        Self(Uuid::new_v4().into_bytes())
    }
}

impl ToSql for LockToken {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(&self.0[..]))
    }
}

impl FromSql for LockToken {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        FromSql::column_result(value).map(Self)
    }
}

/// A lane and the token it is locked with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) lane: i64,
    pub(crate) token: LockToken,
}

/// Whether the lock holds at `now`. Asked in the transaction that acts on the answer.
pub(crate) fn holds(db: &Connection, held: Held, now: i64) -> rusqlite::Result<bool> {
    let until: Option<i64> = db
        .prepare_cached(
            "select locked_until from nimbus_queue_lane where lane = ?1 and lock_token = ?2",
        )?
        .query_row((held.lane, held.token), |row| row.get(0))
        .optional()?;
    Ok(until.is_some_and(|until| until > now))
}

/// Holds the lock until `until`; `false` when it is lost.
pub(crate) fn renew(db: &Connection, held: Held, now: i64, until: i64) -> rusqlite::Result<bool> {
    let renewed = db
        .prepare_cached(
            "update nimbus_queue_lane set locked_until = ?4
             where lane = ?1 and lock_token = ?2 and locked_until > ?3",
        )?
        .execute((held.lane, held.token, now, until))?;
    Ok(renewed > 0)
}

/// Gives the lane back; what is not settled is at its head again. `false` when the lock is lost.
pub(crate) fn release(db: &Connection, held: Held, now: i64) -> rusqlite::Result<bool> {
    let held_until_now = holds(db, held, now)?;
    // A lock that ran out and that nobody took is freed too: the next holder needn't find out.
    let emptied = db
        .prepare_cached(
            "delete from nimbus_queue_lane where lane = ?1 and lock_token = ?2 and head is null",
        )?
        .execute((held.lane, held.token))?;
    if emptied == 0 {
        db.prepare_cached(
            "update nimbus_queue_lane
             set lock_token = null, locked_until = null, head_taken = 0
             where lane = ?1 and lock_token = ?2",
        )?
        .execute((held.lane, held.token))?;
    }
    Ok(held_until_now)
}
