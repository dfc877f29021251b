//! How an inbox uses its database.

use std::num::NonZeroUsize;
use std::time::Duration;

use nimbus_inbox_core::{Error, Operation};

use crate::error::misconfigured;
use crate::schema;
use crate::table::Table;

const POOL_SIZE: NonZeroUsize = NonZeroUsize::new(10).unwrap();
const KEYS_PER_CALL: NonZeroUsize = NonZeroUsize::new(500).unwrap();

/// Options of [`PostgresInbox::open_with`](crate::PostgresInbox::open_with) and of
/// [`PostgresInbox::on`](crate::PostgresInbox::on).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PostgresInboxOptions {
    pub(crate) auto_create: bool,
    pub(crate) table: Table,
    pub(crate) batching: Option<NonZeroUsize>,
    pub(crate) pool_size: NonZeroUsize,
    pub(crate) acquire_timeout: Duration,
    pub(crate) statement_timeout: Duration,
    pub(crate) lock_timeout: Duration,
}

impl Default for PostgresInboxOptions {
    fn default() -> Self {
        Self {
            auto_create: true,
            table: Table::default(),
            batching: Some(KEYS_PER_CALL),
            pool_size: POOL_SIZE,
            acquire_timeout: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(30),
            lock_timeout: Duration::from_secs(5),
        }
    }
}

impl PostgresInboxOptions {
    /// Whether a missing schema and table are created at the first use; they are unless set
    /// (INB-27).
    ///
    /// Otherwise `cargo xtask provision --postgres URL` creates them, from [`ddl`](Self::ddl),
    /// and until then every call is a configuration error.
    #[must_use]
    pub fn with_auto_create(mut self, create: bool) -> Self {
        self.auto_create = create;
        self
    }

    /// The schema that holds the table; `nimbus` unless set (INB-28).
    ///
    /// # Errors
    ///
    /// A configuration error unless the name is 1 to 63 ASCII letters, digits and underscores
    /// without a digit first, and not one of PostgreSQL's own. Its case is kept.
    pub fn with_schema(mut self, name: &str) -> Result<Self, Error> {
        self.table = self.table.with_schema(name)?;
        Ok(self)
    }

    /// The table that holds the records; `inbox_messages` unless set (INB-28).
    ///
    /// Endpoints can share a table (INB-22), so this is for a naming scheme of the database's
    /// owner.
    ///
    /// # Errors
    ///
    /// A configuration error unless the name is 1 to 52 ASCII letters, digits and underscores
    /// without a digit first, and not one that another part of this project uses. Its case is
    /// kept.
    pub fn with_table(mut self, name: &str) -> Result<Self, Error> {
        self.table = self.table.with_name(name)?;
        Ok(self)
    }

    /// How many keys may share one call to the server; 500 unless set.
    ///
    /// Checks, and records, that come while another of their kind is under way go together when
    /// it returns ([`Batching`](nimbus_inbox_core::Batching)). `None` gives every call a round
    /// trip and a connection of its own.
    #[must_use]
    pub fn with_batching(mut self, keys: Option<NonZeroUsize>) -> Self {
        self.batching = keys;
        self
    }

    /// How many connections this inbox may have open; 10 unless set.
    ///
    /// With batching, checks and records need one each. Every handler inside
    /// [`process_in`](nimbus_inbox_core::Inbox::process_in) holds one of its own.
    #[must_use]
    pub fn with_pool_size(mut self, connections: NonZeroUsize) -> Self {
        self.pool_size = connections;
        self
    }

    /// How long a call waits for a connection before it is a transient error; 10 seconds unless
    /// set.
    ///
    /// # Errors
    ///
    /// A configuration error when it is zero.
    pub fn with_acquire_timeout(mut self, timeout: Duration) -> Result<Self, Error> {
        self.acquire_timeout = bounded("acquire timeout", timeout)?;
        Ok(self)
    }

    /// How long the server works on one statement before it gives up, handlers' statements
    /// included; 30 seconds unless set, from a millisecond to 24 days.
    ///
    /// The wait of a claim for a concurrent first delivery counts too.
    ///
    /// # Errors
    ///
    /// A configuration error when it is outside that range.
    pub fn with_statement_timeout(mut self, timeout: Duration) -> Result<Self, Error> {
        self.statement_timeout = bounded("statement timeout", timeout)?;
        Ok(self)
    }

    /// How long a record outside a transaction waits for a transaction that holds the same key
    /// before it is a transient error; 5 seconds unless set, from a millisecond to 24 days.
    ///
    /// Records that share its call wait as long, and then go on their own.
    ///
    /// # Errors
    ///
    /// A configuration error when it is outside that range.
    pub fn with_lock_timeout(mut self, timeout: Duration) -> Result<Self, Error> {
        self.lock_timeout = bounded("lock timeout", timeout)?;
        Ok(self)
    }

    /// The schema that holds the table.
    #[must_use]
    pub fn schema(&self) -> &str {
        self.table.schema()
    }

    /// The table that holds the records, in its schema.
    #[must_use]
    pub fn table(&self) -> &str {
        self.table.name()
    }

    /// The index that serves the purge.
    #[must_use]
    pub fn index(&self) -> String {
        self.table.index()
    }

    /// The statements that let a role use the table, and do nothing else with it: what a service
    /// needs whose tables somebody else creates.
    #[must_use]
    pub fn grants(&self, role: &str) -> String {
        schema::grants(&self.table, role)
    }

    /// The statements that create the schema and the table, in order. They tolerate to run again.
    #[must_use]
    pub fn ddl(&self) -> String {
        schema::ddl(&self.table)
    }
}

/// The server counts milliseconds in 31 bits and takes zero for no limit at all.
fn bounded(what: &str, duration: Duration) -> Result<Duration, Error> {
    if (1..=i32::MAX.unsigned_abs().into()).contains(&duration.as_millis()) {
        Ok(duration)
    } else {
        Err(misconfigured(
            Operation::Configure,
            format!("a {what} of {duration:?} is outside one millisecond to 24 days"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_the_server_would_take_for_none_is_refused() {
        for unusable in [
            Duration::ZERO,
            Duration::from_nanos(1),
            Duration::from_secs(25 * 86_400),
            Duration::MAX,
        ] {
            let options = PostgresInboxOptions::default;
            options()
                .with_statement_timeout(unusable)
                .expect_err("outside");
            options().with_lock_timeout(unusable).expect_err("outside");
            options()
                .with_acquire_timeout(unusable)
                .expect_err("outside");
        }
    }
}
