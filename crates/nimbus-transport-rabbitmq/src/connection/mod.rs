//! Where the broker is and how it is reached.

mod link;

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use lapin::tcp::OwnedTLSConfig;
use lapin::uri::{AMQPScheme, AMQPUri};
use nimbus_messaging::TransportError;
use secrecy::{ExposeSecret, SecretString};

pub(crate) use link::Link;

/// Seconds between heartbeats unless the URI says otherwise. A peer that is gone without a word is
/// noticed after two of them.
const HEARTBEAT: u16 = 10;

/// The address of a broker and what to log in with.
///
/// `Debug` shows where the broker is and nothing that is secret.
#[derive(Clone)]
pub struct RabbitMqConnection {
    /// It may hold a password.
    uri: SecretString,
    password: Option<SecretString>,
    plaintext: bool,
    ca_file: Option<PathBuf>,
}

impl RabbitMqConnection {
    /// Reads a URI: `amqps://user@host:5671/vhost`, or `amqp://…` for a broker on this machine.
    ///
    /// `amqps` is TLS with a certificate that the trusted roots vouch for and that names the host.
    ///
    /// # Errors
    ///
    /// A configuration error when it can't be read. Its text repeats nothing of the URI.
    pub fn parse(uri: impl Into<SecretString>) -> Result<Self, TransportError> {
        let uri = uri.into();
        read(&uri)?;
        Ok(Self {
            uri,
            password: None,
            plaintext: false,
            ca_file: None,
        })
    }

    /// The password, where it is kept apart from the rest.
    #[must_use]
    pub fn with_password(mut self, password: impl Into<SecretString>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// Whether `amqp://` may reach another machine, in the clear, password included; it may not
    /// unless set.
    #[must_use]
    pub fn with_plaintext(mut self, allowed: bool) -> Self {
        self.plaintext = allowed;
        self
    }

    /// A file of PEM certificates that vouch for the broker, beside the roots that the system
    /// trusts. It is read for every connection, so that it can be replaced.
    #[must_use]
    pub fn with_ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(path.into());
        self
    }

    /// The address for the driver, if it may be used.
    pub(crate) fn address(&self) -> Result<AMQPUri, TransportError> {
        let mut uri = read(&self.uri)?;
        if uri.scheme == AMQPScheme::AMQP && !self.plaintext && !is_local(&uri.authority.host) {
            return Err(TransportError::configuration(format!(
                "amqp:// would send the password to {} in the clear; use amqps://, or allow \
                 plaintext where the network is trusted",
                uri.authority.host
            )));
        }
        if let Some(password) = &self.password {
            uri.authority.userinfo.password = password.expose_secret().to_owned();
        }
        uri.query.heartbeat.get_or_insert(HEARTBEAT);
        Ok(uri)
    }

    pub(crate) async fn tls(&self) -> Result<OwnedTLSConfig, TransportError> {
        let Some(path) = self.ca_file.clone() else {
            return Ok(OwnedTLSConfig::default());
        };
        let read = tokio::task::spawn_blocking(move || certificates(&path));
        let certificates = read.await.map_err(|gone| {
            TransportError::transient("reading the trusted certificates was cut off")
                .with_source(gone)
        })??;
        Ok(OwnedTLSConfig {
            identity: None,
            cert_chain: Some(certificates),
        })
    }

    /// Host, port and virtual host, for errors and logs.
    pub(crate) fn place(&self) -> String {
        read(&self.uri).map_or_else(
            |_| String::new(),
            |uri| {
                format!(
                    "{}:{}/{}",
                    uri.authority.host, uri.authority.port, uri.vhost
                )
            },
        )
    }
}

fn read(uri: &SecretString) -> Result<AMQPUri, TransportError> {
    // The parser's own error may repeat the text.
    uri.expose_secret().parse().map_err(|_| {
        TransportError::configuration(
            "the broker's address can't be read; write it as amqps://user@host:5671/vhost, and \
             what is not a letter or digit in user, password and vhost as %XX",
        )
    })
}

fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

fn certificates(path: &Path) -> Result<String, TransportError> {
    std::fs::read_to_string(path).map_err(|problem| {
        TransportError::configuration(format!(
            "{} holds no certificate that could vouch for the broker",
            path.display()
        ))
        .with_source(problem)
    })
}

impl fmt::Debug for RabbitMqConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RabbitMqConnection")
            .field("broker", &self.place())
            .field("plaintext", &self.plaintext)
            .field("ca_file", &self.ca_file)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
