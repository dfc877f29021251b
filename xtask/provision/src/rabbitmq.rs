//! Exchanges and queues of endpoints at a RabbitMQ broker.

use std::env;
use std::num::NonZeroU32;

use anyhow::Context;
use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{TransportError, TransportErrorKind};
use nimbus_transport_rabbitmq::{RabbitMqConnection, RabbitMqOptions, RabbitMqTransport};

use crate::commands::provision::Mode;

/// Holds the password, where it is not in the address.
const PASSWORD: &str = "NIMBUS_RABBITMQ_PASSWORD";

/// A broker and the endpoints that it has to serve.
#[derive(clap::Args)]
pub(crate) struct Broker {
    /// Address of RabbitMQ, such as amqps://admin@rabbit.example/vhost.
    ///
    /// The password may be given by the variable NIMBUS_RABBITMQ_PASSWORD instead.
    #[arg(long, value_name = "URI", group = "stores", requires = "endpoints")]
    rabbitmq: Option<String>,

    /// Endpoint whose exchanges and queues to declare there (repeatable).
    #[arg(
        long = "endpoint",
        value_name = "NAME",
        requires = "rabbitmq",
        id = "endpoints"
    )]
    endpoints: Vec<String>,

    /// What the names of its exchanges and queues begin with, if not with `nimbus.`.
    #[arg(long, value_name = "TEXT", requires = "rabbitmq")]
    prefix: Option<String>,

    /// Over how many queues each endpoint is spread, if not over 8.
    #[arg(long, value_name = "NUMBER", requires = "rabbitmq")]
    partitions: Option<u16>,

    /// Deliveries after which a message is dead-lettered, if not 10.
    #[arg(long, value_name = "NUMBER", requires = "rabbitmq")]
    delivery_limit: Option<NonZeroU32>,

    /// Let amqp:// reach another machine in the clear.
    #[arg(long, requires = "rabbitmq")]
    plaintext: bool,
}

impl Broker {
    /// Says whether the broker has what it has to, and prints what was done or is missing.
    pub(crate) async fn run(&self, mode: Mode) -> anyhow::Result<bool> {
        let Some(uri) = &self.rabbitmq else {
            return Ok(true);
        };
        let transport = self.transport(uri)?;
        let mut all_as_needed = true;
        for name in &self.endpoints {
            let endpoint = EndpointId::new(name)
                .with_context(|| format!("{name:?} can't be the name of an endpoint"))?;
            match mode {
                Mode::Print => print!("-- rabbitmq: {name}\n{}\n", transport.topology(&endpoint)),
                Mode::Create => {
                    transport.declare(&endpoint).await?;
                    println!("rabbitmq: {name} is declared");
                }
                Mode::Check => {
                    all_as_needed &= report(name, transport.check(&endpoint).await)?;
                }
            }
        }
        transport.close().await;
        Ok(all_as_needed)
    }

    fn transport(&self, uri: &str) -> Result<RabbitMqTransport, TransportError> {
        let mut connection = RabbitMqConnection::parse(uri)?.with_plaintext(self.plaintext);
        if let Ok(password) = env::var(PASSWORD) {
            connection = connection.with_password(password);
        }
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
        RabbitMqTransport::with_options(connection, options)
    }
}

/// What is missing is an answer; a broker that can't be asked is an error.
fn report(name: &str, checked: Result<(), TransportError>) -> Result<bool, TransportError> {
    match checked {
        Ok(()) => {
            println!("rabbitmq: {name} has what it needs");
            Ok(true)
        }
        Err(error) if error.kind() == TransportErrorKind::Configuration => {
            println!("rabbitmq: {name}: {error}");
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
