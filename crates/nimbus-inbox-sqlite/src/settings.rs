//! What a configuration says about an inbox file (SUB-32).

use std::num::NonZeroU32;

use nimbus_inbox_core::Error;
use nimbus_inbox_core::config::{FilePath, HumanDuration};
use nimbus_sqlite::Durability;
use serde::Deserialize;

use crate::SqliteInbox;
use crate::options::SqliteInboxOptions;

/// The keys of an inbox with `store = "sqlite"`.
///
/// Register it with `Providers::inbox(InboxStoreKind::Sqlite, SqliteInboxSettings::open)`. What is
/// absent is as in [`SqliteInboxOptions`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SqliteInboxSettings {
    /// The file.
    pub path: FilePath,
    /// See [`SqliteInboxOptions::with_auto_create`].
    pub auto_create: Option<bool>,
    /// See [`SqliteInboxOptions::with_table`].
    pub table: Option<String>,
    /// See [`SqliteInboxOptions::with_durability`].
    pub durability: Option<Durability>,
    /// See [`SqliteInboxOptions::with_busy_timeout`].
    pub busy_timeout: Option<HumanDuration>,
    /// See [`SqliteInboxOptions::with_max_pages`].
    pub max_pages: Option<NonZeroU32>,
}

impl SqliteInboxSettings {
    /// The options that these settings mean.
    ///
    /// # Errors
    ///
    /// A configuration error when the name of the table can't be used.
    pub fn options(&self) -> Result<SqliteInboxOptions, Error> {
        let mut options = SqliteInboxOptions::default();
        if let Some(create) = self.auto_create {
            options = options.with_auto_create(create);
        }
        if let Some(table) = &self.table {
            options = options.with_table(table)?;
        }
        if let Some(durability) = self.durability {
            options = options.with_durability(durability);
        }
        if let Some(timeout) = self.busy_timeout {
            options = options.with_busy_timeout(timeout.0);
        }
        if let Some(pages) = self.max_pages {
            options = options.with_max_pages(pages);
        }
        Ok(options)
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// As [`options`](Self::options) and [`SqliteInbox::open_with`].
    ///
    /// # Cancel safety
    ///
    /// As [`SqliteInbox::open_with`].
    pub async fn open(self) -> Result<SqliteInbox, Error> {
        SqliteInbox::open_with(&self.path, self.options()?).await
    }
}
