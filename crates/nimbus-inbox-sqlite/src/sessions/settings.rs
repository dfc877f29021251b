//! What a configuration says about a file of sessions (SUB-32).

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_core::config::{FilePath, HumanDuration};
use nimbus_messaging::TransportError;
use nimbus_sqlite::{Database, Durability, OpenOptions};
use serde::Deserialize;

use super::SqliteSessions;
use super::error::failed;

/// The keys of a session store with `store = "sqlite"`.
///
/// Register it with `Providers::session_store("sqlite", SqliteSessionSettings::open)`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SqliteSessionSettings {
    /// The file.
    pub path: FilePath,
    /// See [`SqliteSessions::with_auto_create`].
    pub auto_create: Option<bool>,
    /// See [`OpenOptions::with_durability`].
    pub durability: Option<Durability>,
    /// See [`OpenOptions::with_busy_timeout`].
    pub busy_timeout: Option<HumanDuration>,
}

impl SqliteSessionSettings {
    /// The options of the file that these settings mean.
    #[must_use]
    pub fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::default();
        if let Some(durability) = self.durability {
            options = options.with_durability(durability);
        }
        if let Some(timeout) = self.busy_timeout {
            options = options.with_busy_timeout(timeout.0);
        }
        options
    }

    /// Opens the file, for the sessions of `endpoint`.
    ///
    /// # Errors
    ///
    /// A configuration error when the place can't be written, the file is no SQLite database, is
    /// damaged or is marked as another application's; a transient one when other processes keep it
    /// locked.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may leave an empty file behind.
    pub async fn open(self, endpoint: EndpointId) -> Result<SqliteSessions, TransportError> {
        let database = Database::open(&self.path, self.options())
            .await
            .map_err(|error| failed("opening its file", error))?;
        let sessions = SqliteSessions::new(database, endpoint);
        Ok(match self.auto_create {
            Some(create) => sessions.with_auto_create(create),
            None => sessions,
        })
    }
}
