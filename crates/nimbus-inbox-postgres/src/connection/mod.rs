//! Where the server is and how it is reached.

mod parse;
mod tls;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use nimbus_inbox_core::Error;
use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

pub(crate) use tls::connector;

/// How long opening one connection may take unless the connection string says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How soon a peer that is gone without a word is noticed: by the probe of an idle connection and
/// by data that nobody acknowledges.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// Whether what travels to the server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsMode {
    /// TLS, with a certificate that the trusted roots vouch for and that names the host. A server
    /// that has none is refused.
    #[default]
    Verified,
    /// In the clear, password included where the server asks for one.
    Off,
}

/// The address of a database and what to log in with.
///
/// `Debug` shows where the server is and nothing that is secret.
#[derive(Clone)]
pub struct PostgresConnection {
    /// It may hold a password.
    text: SecretString,
    password: Option<SecretString>,
    tls: TlsMode,
    ca_file: Option<PathBuf>,
}

impl PostgresConnection {
    /// Reads a connection string: `postgres://user@host:5432/database?application_name=billing`,
    /// or `host=… user=… dbname=…`.
    ///
    /// TLS is verified whatever `sslmode` says, except that `sslmode=disable` turns it off. Unix
    /// sockets have none.
    ///
    /// # Errors
    ///
    /// A configuration error when it can't be read or names no host. Its text repeats nothing of
    /// the string but the name of an option.
    pub fn parse(text: impl Into<SecretString>) -> Result<Self, Error> {
        let text = parse::accepted_modes(text.into());
        let config = parse::read(&text)?;
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => TlsMode::Off,
            _ => TlsMode::Verified,
        };
        Ok(Self {
            text,
            password: None,
            tls,
            ca_file: None,
        })
    }

    /// The password, where it is kept apart from the rest.
    #[must_use]
    pub fn with_password(mut self, password: impl Into<SecretString>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// Whether TLS is used; [`TlsMode::Verified`] unless set, or unless the connection string
    /// says `sslmode=disable`.
    #[must_use]
    pub fn with_tls(mut self, mode: TlsMode) -> Self {
        self.tls = mode;
        self
    }

    /// A file of PEM certificates that vouch for the server, instead of the roots that the
    /// system trusts. It is read when the inbox is opened.
    #[must_use]
    pub fn with_ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(path.into());
        self
    }

    pub(crate) fn ca_file(&self) -> Option<PathBuf> {
        self.ca_file.clone()
    }

    /// What the driver gets, with everything decided that it would decide otherwise.
    pub(crate) fn driver_config(&self) -> Result<Config, Error> {
        let mut config = parse::read(&self.text)?;
        if let Some(password) = &self.password {
            config.password(password.expose_secret());
        }
        // The driver's own default would fall back to an unencrypted connection.
        config.ssl_mode(if self.is_encrypted(&config) {
            SslMode::Require
        } else {
            SslMode::Disable
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED);
        }
        if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
            config.keepalives_idle(KEEPALIVE_IDLE);
        }
        if config.get_application_name().is_none() {
            config.application_name("nimbus-inbox");
        }
        Ok(config)
    }

    fn is_encrypted(&self, config: &Config) -> bool {
        let hosts = config.get_hosts();
        let is_local = !hosts.is_empty() && hosts.iter().all(is_socket);
        self.tls == TlsMode::Verified && !is_local
    }
}

fn is_socket(host: &Host) -> bool {
    !matches!(host, Host::Tcp(_))
}

/// Hosts, ports and database, for errors and logs.
pub(crate) fn place(config: &Config) -> String {
    let named = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    });
    let hosts: Vec<_> = if config.get_hosts().is_empty() {
        let addresses = config.get_hostaddrs().iter();
        addresses.map(ToString::to_string).collect()
    } else {
        named.collect()
    };
    let ports = config.get_ports();
    let all: Vec<_> = hosts
        .iter()
        .enumerate()
        .map(|(number, host)| {
            let port = ports.get(number).or(ports.first()).unwrap_or(&5432);
            format!("{host}:{port}")
        })
        .collect();
    // The server takes the user's name where none is given.
    let database = config.get_dbname().or(config.get_user()).unwrap_or("");
    format!("{}/{database}", all.join(","))
}

/// Host, port and database, without anything secret.
impl fmt::Display for PostgresConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It was read before.
        let config = parse::read(&self.text).unwrap_or_default();
        f.write_str(&place(&config))
    }
}

impl fmt::Debug for PostgresConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresConnection")
            .field("server", &self.to_string())
            .field("tls", &self.tls)
            .field("ca_file", &self.ca_file)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
