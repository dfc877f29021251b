//! What a configuration says about the resolver (SUB-32).

use nimbus_inbox_core::config::{FilePath, HumanDuration};
use serde::Deserialize;

use crate::{ResolverError, ResolverOptions, ResolverStore};

/// The keys of the section `[resolver]`.
///
/// Register it with `Providers::section::<ResolverSettings>("resolver")`. What is absent is as in
/// [`ResolverOptions`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ResolverSettings {
    /// The file of the [`ResolverStore`].
    pub database: FilePath,
    /// See [`ResolverOptions::with_retention`].
    pub retention: Option<HumanDuration>,
    /// See [`ResolverOptions::with_purge_interval`].
    pub purge_interval: Option<HumanDuration>,
    /// See [`ResolverOptions::with_concurrent_events`].
    pub concurrent_events: Option<usize>,
}

impl ResolverSettings {
    /// The options that these settings mean.
    #[must_use]
    pub fn options(&self) -> ResolverOptions {
        let mut options = ResolverOptions::default();
        if let Some(retention) = self.retention {
            options = options.with_retention(retention.0);
        }
        if let Some(interval) = self.purge_interval {
            options = options.with_purge_interval(interval.0);
        }
        if let Some(events) = self.concurrent_events {
            options = options.with_concurrent_events(events);
        }
        options
    }

    /// Opens the file, and makes it if it isn't there.
    ///
    /// # Errors
    ///
    /// As [`ResolverStore::open`].
    ///
    /// # Cancel safety
    ///
    /// As [`ResolverStore::open`].
    pub async fn open(&self) -> Result<ResolverStore, ResolverError> {
        ResolverStore::open(&self.database).await
    }

    /// Opens the file for someone who looks: it has to be there.
    ///
    /// # Errors
    ///
    /// As [`ResolverStore::open_existing`].
    ///
    /// # Cancel safety
    ///
    /// As [`ResolverStore::open_existing`].
    pub async fn open_existing(&self) -> Result<ResolverStore, ResolverError> {
        ResolverStore::open_existing(&self.database).await
    }
}
