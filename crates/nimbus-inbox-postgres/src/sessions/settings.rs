//! What a configuration says about sessions in PostgreSQL (SUB-32).

use std::num::NonZeroUsize;

use nimbus_inbox_core::config::{FilePath, HumanDuration, Secret};
use nimbus_inbox_core::{EndpointId, Error};
use nimbus_messaging::TransportError;
use secrecy::SecretString;
use serde::Deserialize;

use super::PostgresSessions;
use super::error::from_inbox;
use crate::connection::PostgresConnection;
use crate::options::PostgresInboxOptions;

/// The keys of a session store with `store = "postgres"`.
///
/// Register it with `Providers::session_store("postgres", PostgresSessionSettings::open)`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PostgresSessionSettings {
    /// See [`PostgresConnection::parse`]. It may hold a password.
    pub url: Secret,
    /// See [`PostgresConnection::with_password`].
    pub password: Option<Secret>,
    /// See [`PostgresConnection::with_ca_file`].
    pub ca_file: Option<FilePath>,
    /// See [`PostgresInboxOptions::with_auto_create`].
    pub auto_create: Option<bool>,
    /// See [`PostgresInboxOptions::with_schema`].
    pub schema: Option<String>,
    /// See [`PostgresInboxOptions::with_pool_size`].
    pub pool_size: Option<NonZeroUsize>,
    /// See [`PostgresInboxOptions::with_acquire_timeout`].
    pub acquire_timeout: Option<HumanDuration>,
    /// See [`PostgresInboxOptions::with_statement_timeout`].
    pub statement_timeout: Option<HumanDuration>,
}

impl PostgresSessionSettings {
    /// The connection that these settings mean.
    ///
    /// # Errors
    ///
    /// As [`PostgresConnection::parse`].
    pub fn connection(&self) -> Result<PostgresConnection, Error> {
        let mut connection = PostgresConnection::parse(SecretString::from(self.url.clone()))?;
        if let Some(password) = &self.password {
            connection = connection.with_password(SecretString::from(password.clone()));
        }
        if let Some(path) = &self.ca_file {
            connection = connection.with_ca_file(path.as_ref());
        }
        Ok(connection)
    }

    /// The options that these settings mean.
    ///
    /// # Errors
    ///
    /// A configuration error when a name can't be used or a time is out of range.
    pub fn options(&self) -> Result<PostgresInboxOptions, Error> {
        let mut options = PostgresInboxOptions::default();
        if let Some(create) = self.auto_create {
            options = options.with_auto_create(create);
        }
        if let Some(schema) = &self.schema {
            options = options.with_schema(schema)?;
        }
        if let Some(size) = self.pool_size {
            options = options.with_pool_size(size);
        }
        if let Some(timeout) = self.acquire_timeout {
            options = options.with_acquire_timeout(timeout.0)?;
        }
        if let Some(timeout) = self.statement_timeout {
            options = options.with_statement_timeout(timeout.0)?;
        }
        Ok(options)
    }

    /// Opens the store, for the sessions of `endpoint`. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// As [`connection`](Self::connection), [`options`](Self::options) and
    /// [`PostgresSessions::open_with`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has done nothing.
    pub async fn open(self, endpoint: EndpointId) -> Result<PostgresSessions, TransportError> {
        let opened = self.opened(endpoint).await;
        opened.map_err(|error| from_inbox("being set up", error))
    }

    async fn opened(self, endpoint: EndpointId) -> Result<PostgresSessions, Error> {
        PostgresSessions::open_with(self.connection()?, self.options()?, endpoint).await
    }
}
