//! What a configuration says about a broker (SUB-32).

use std::num::NonZeroU32;

use nimbus_inbox_core::config::{FilePath, HumanDuration, Secret};
use nimbus_messaging::TransportError;
use serde::Deserialize;

use crate::connection::RabbitMqConnection;
use crate::options::RabbitMqOptions;
use crate::transport::RabbitMqTransport;

/// The keys of a transport with `name = "rabbitmq"`.
///
/// Register it with `Providers::transport("rabbitmq", RabbitMqSettings::open)`. What is absent is
/// as in [`RabbitMqOptions`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RabbitMqSettings {
    /// See [`RabbitMqConnection::parse`]. From the environment only, since it may hold a password.
    pub uri: Secret,
    /// See [`RabbitMqConnection::with_plaintext`].
    pub plaintext: Option<bool>,
    /// See [`RabbitMqConnection::with_ca_file`].
    pub ca_file: Option<FilePath>,
    /// See [`RabbitMqOptions::with_prefix`].
    pub prefix: Option<String>,
    /// See [`RabbitMqOptions::with_partitions`].
    pub partitions: Option<u16>,
    /// See [`RabbitMqOptions::with_delivery_limit`].
    pub delivery_limit: Option<NonZeroU32>,
    /// See [`RabbitMqOptions::with_lock_duration`].
    pub lock_duration: Option<HumanDuration>,
    /// See [`RabbitMqOptions::with_auto_declare`].
    pub auto_declare: Option<bool>,
    /// See [`RabbitMqOptions::with_message_size_limit`].
    pub message_size_limit: Option<usize>,
    /// See [`RabbitMqOptions::with_property_limit`].
    pub property_limit: Option<usize>,
    /// See [`RabbitMqOptions::with_connect_timeout`].
    pub connect_timeout: Option<HumanDuration>,
    /// See [`RabbitMqOptions::with_confirm_timeout`].
    pub confirm_timeout: Option<HumanDuration>,
}

impl RabbitMqSettings {
    /// The options that these settings mean.
    #[must_use]
    pub fn options(&self) -> RabbitMqOptions {
        let mut options = RabbitMqOptions::default();
        if let Some(prefix) = &self.prefix {
            options = options.with_prefix(prefix);
        }
        if let Some(partitions) = self.partitions {
            options = options.with_partitions(partitions);
        }
        if let Some(limit) = self.delivery_limit {
            options = options.with_delivery_limit(limit);
        }
        if let Some(duration) = self.lock_duration {
            options = options.with_lock_duration(duration.0);
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
        if let Some(timeout) = self.connect_timeout {
            options = options.with_connect_timeout(timeout.0);
        }
        if let Some(timeout) = self.confirm_timeout {
            options = options.with_confirm_timeout(timeout.0);
        }
        options
    }

    /// The address that these settings mean.
    ///
    /// # Errors
    ///
    /// As [`RabbitMqConnection::parse`].
    pub fn connection(&self) -> Result<RabbitMqConnection, TransportError> {
        let uri = self.uri.expose().to_owned();
        let mut connection = RabbitMqConnection::parse(uri)?;
        if let Some(allowed) = self.plaintext {
            connection = connection.with_plaintext(allowed);
        }
        if let Some(path) = &self.ca_file {
            connection = connection.with_ca_file(path.as_ref());
        }
        Ok(connection)
    }

    /// The transport. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// As [`RabbitMqTransport::with_options`].
    ///
    /// # Cancel safety
    ///
    /// It waits for nothing.
    pub async fn open(self) -> Result<RabbitMqTransport, TransportError> {
        RabbitMqTransport::with_options(self.connection()?, self.options())
    }
}
