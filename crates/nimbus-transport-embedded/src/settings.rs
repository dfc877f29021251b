//! What a configuration says about a queue file (SUB-32).

use std::num::NonZeroU32;

use nimbus_inbox_core::config::{FilePath, HumanDuration};
use nimbus_messaging::TransportError;
use nimbus_sqlite::Durability;
use serde::Deserialize;

use crate::options::EmbeddedOptions;
use crate::transport::EmbeddedTransport;

/// The keys of a transport with `name = "embedded"`.
///
/// Register it with `Providers::transport("embedded", EmbeddedSettings::open)`. What is absent is as
/// in [`EmbeddedOptions`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EmbeddedSettings {
    /// The file.
    pub path: FilePath,
    /// See [`EmbeddedOptions::with_lock_duration`].
    pub lock_duration: Option<HumanDuration>,
    /// See [`EmbeddedOptions::with_delivery_limit`].
    pub delivery_limit: Option<NonZeroU32>,
    /// See [`EmbeddedOptions::with_poll_interval`].
    pub poll_interval: Option<HumanDuration>,
    /// See [`EmbeddedOptions::with_auto_create`].
    pub auto_create: Option<bool>,
    /// See [`EmbeddedOptions::with_auto_declare`].
    pub auto_declare: Option<bool>,
    /// See [`EmbeddedOptions::with_message_size_limit`].
    pub message_size_limit: Option<usize>,
    /// See [`EmbeddedOptions::with_property_limit`].
    pub property_limit: Option<usize>,
    /// See [`EmbeddedOptions::with_durability`].
    pub durability: Option<Durability>,
    /// See [`EmbeddedOptions::with_busy_timeout`].
    pub busy_timeout: Option<HumanDuration>,
    /// See [`EmbeddedOptions::with_max_pages`].
    pub max_pages: Option<NonZeroU32>,
}

impl EmbeddedSettings {
    /// The options that these settings mean.
    #[must_use]
    pub fn options(&self) -> EmbeddedOptions {
        let mut options = EmbeddedOptions::default();
        if let Some(duration) = self.lock_duration {
            options = options.with_lock_duration(duration.0);
        }
        if let Some(limit) = self.delivery_limit {
            options = options.with_delivery_limit(limit);
        }
        if let Some(interval) = self.poll_interval {
            options = options.with_poll_interval(interval.0);
        }
        if let Some(create) = self.auto_create {
            options = options.with_auto_create(create);
        }
        if let Some(declare) = self.auto_declare {
            options = options.with_auto_declare(declare);
        }
        if let Some(bytes) = self.message_size_limit {
            options = options.with_message_size_limit(bytes);
        }
        if let Some(count) = self.property_limit {
            options = options.with_property_limit(count);
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
        options
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// As [`EmbeddedTransport::open_with`].
    ///
    /// # Cancel safety
    ///
    /// As [`EmbeddedTransport::open_with`].
    pub async fn open(self) -> Result<EmbeddedTransport, TransportError> {
        EmbeddedTransport::open_with(&self.path, self.options()).await
    }
}
