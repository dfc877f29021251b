//! How an inbox file is opened.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Clock, Error, SystemClock};
use nimbus_sqlite::{Durability, OpenOptions};

use crate::schema;
use crate::table::TableName;

/// Options of [`SqliteInbox::open_with`](crate::SqliteInbox::open_with) and of
/// [`SqliteInbox::on`](crate::SqliteInbox::on).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SqliteInboxOptions {
    pub(crate) auto_create: bool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) table: TableName,
    pub(crate) file: OpenOptions,
}

impl Default for SqliteInboxOptions {
    fn default() -> Self {
        Self {
            auto_create: true,
            clock: Arc::new(SystemClock),
            table: TableName::default(),
            file: OpenOptions::default(),
        }
    }
}

impl SqliteInboxOptions {
    /// Whether a missing table is created at the first use; it is unless set (INB-27).
    ///
    /// Otherwise `cargo xtask provision --sqlite PATH` creates it, from [`ddl`](Self::ddl), and
    /// until then every call is a configuration error.
    #[must_use]
    pub fn with_auto_create(mut self, create: bool) -> Self {
        self.auto_create = create;
        self
    }

    /// The clock that stamps records and turns an age into a cutoff; the system's unless set.
    ///
    /// SQLite has no clock of its own (INB-23). All processes on a file run on one machine, and
    /// so on one clock.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The table that holds the records; `nimbus_inbox` unless set (INB-28).
    ///
    /// Endpoints can share a table (INB-22), so this is for a naming scheme of the database's
    /// owner.
    ///
    /// # Errors
    ///
    /// A configuration error unless the name is 1 to 64 ASCII letters, digits and underscores
    /// without a digit first, and not one that SQLite or another part of this project uses.
    pub fn with_table(mut self, name: &str) -> Result<Self, Error> {
        self.table = TableName::new(name)?;
        Ok(self)
    }

    /// When a record counts as done; when the disk has it unless set.
    ///
    /// With [`Durability::Normal`] the last records may be lost with the power, and their
    /// messages run again if they are redelivered.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.file = self.file.with_durability(durability);
        self
    }

    /// How long a call waits for other processes that write before it is a transient error; 5
    /// seconds unless set.
    #[must_use]
    pub fn with_busy_timeout(mut self, timeout: Duration) -> Self {
        self.file = self.file.with_busy_timeout(timeout);
        self
    }

    /// Bounds the file to this many pages, normally of 4,096 bytes; not bounded unless set.
    ///
    /// A record beyond is a configuration error; those before stay.
    #[must_use]
    pub fn with_max_pages(mut self, pages: NonZeroU32) -> Self {
        self.file = self.file.with_max_pages(pages);
        self
    }

    /// The statements that create the table, in order. They tolerate to run again.
    #[must_use]
    pub fn ddl(&self) -> String {
        schema::ddl(&self.table)
    }
}
