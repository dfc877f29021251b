//! Which RabbitMQ the tests use, and names of its own for each of them.

use std::env;
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use lapin::options::{ExchangeDeleteOptions, QueueDeleteOptions};
use lapin::uri::AMQPUri;
use lapin::{Channel, Connection, ConnectionProperties};
use nimbus_inbox_core::EndpointId;
use nimbus_inbox_testing::{DeadLettered, Namespace};
use nimbus_messaging::{
    Address, LaneSource, Sender, Transport, TransportCapabilities, TransportError,
};
use nimbus_transport_rabbitmq::{
    Declaration, RabbitMqConnection, RabbitMqOptions, RabbitMqTransport,
};

/// The address of a broker for tests, with a virtual host in which they may declare and delete.
const ADDRESS: &str = "NIMBUS_RABBITMQ_URL";

/// Where a broker listens that nobody named, and who may log in there.
const STANDARD: &str = "amqp://guest:guest@127.0.0.1:5672/%2f";

/// All tests share one delay ladder.
pub(crate) const PREFIX: &str = "nimbus-test.";

pub(crate) const LIMIT: NonZeroU32 = NonZeroU32::new(6).expect("not zero");

/// The broker's address, or why there is none.
pub(crate) fn find() -> Result<&'static str, String> {
    static FOUND: OnceLock<Result<String, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let named = env::var(ADDRESS);
        let address = named.as_deref().unwrap_or(STANDARD).to_owned();
        let tried = address.clone();
        match apart(async move { connect(&tried).await.map(drop) }) {
            Ok(()) => Ok(address),
            Err(told) if named.is_ok() => Err(format!(
                "rabbitmq: {ADDRESS} names no broker to test on: {told}"
            )),
            Err(_) => Err(format!(
                "rabbitmq: no broker on port 5672 lets guests in; set {ADDRESS}"
            )),
        }
    });
    found.as_ref().map(String::as_str).map_err(Clone::clone)
}

pub(crate) fn address() -> &'static str {
    find().expect("tests are listed as ignored without a broker")
}

/// Where it listens, for a proxy before it.
pub(crate) fn socket() -> SocketAddr {
    let uri: AMQPUri = address().parse().expect("it was tried out");
    let mut found = (uri.authority.host.as_str(), uri.authority.port)
        .to_socket_addrs()
        .expect("a name");
    found.next().expect("an address")
}

/// The broker's address through a proxy.
pub(crate) fn through(proxy: SocketAddr) -> String {
    let mut uri: AMQPUri = address().parse().expect("it was tried out");
    uri.authority.host = proxy.ip().to_string();
    uri.authority.port = proxy.port();
    uri.to_string()
}

async fn connect(address: &str) -> lapin::Result<Connection> {
    Connection::connect(address, ConnectionProperties::default()).await
}

/// A channel of somebody else.
pub(crate) async fn stranger() -> (Connection, Channel) {
    let connection = connect(address()).await.expect("the broker is there");
    let channel = connection.create_channel().await.expect("a channel");
    (connection, channel)
}

/// Runs something on a thread and a runtime of its own, for code that can't wait otherwise.
fn apart<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let done = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(work)
    });
    done.join().expect("no panic")
}

pub(crate) fn options() -> RabbitMqOptions {
    RabbitMqOptions::default()
        .with_prefix(PREFIX)
        .with_partitions(4)
        .with_delivery_limit(LIMIT)
        .with_lock_duration(Duration::from_millis(3_600))
}

pub(crate) fn open(address: &str, options: RabbitMqOptions) -> RabbitMqTransport {
    let connection = RabbitMqConnection::parse(address).expect("an address");
    RabbitMqTransport::with_options(connection, options).expect("usable options")
}

/// Endpoints that are deleted with the last handle to them.
#[derive(Clone, Default)]
pub(crate) struct Endpoints(Arc<Declared>);

#[derive(Default)]
struct Declared(Mutex<Vec<Declaration>>);

impl Endpoints {
    pub(crate) fn of(namespace: &Namespace) -> Self {
        namespace.shared(Self::default)
    }

    /// Remembers what is declared, except what all tests share.
    pub(crate) fn remember(&self, transport: &RabbitMqTransport, endpoint: &EndpointId) {
        let own = format!("{PREFIX}{}", endpoint.as_str().to_ascii_lowercase());
        let mut declared = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let topology = transport.topology(endpoint);
        let declarations = topology.declarations().iter();
        declared.extend(
            declarations
                .filter(|one| match one {
                    Declaration::Exchange { name, .. } | Declaration::Queue { name, .. } => {
                        name.starts_with(&own)
                    }
                    _ => false,
                })
                .cloned(),
        );
    }
}

impl Drop for Declared {
    fn drop(&mut self) {
        let declared = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if declared.is_empty() {
            return;
        }
        apart(async move {
            let (_connection, channel) = stranger().await;
            for one in declared {
                let deleted = match one {
                    Declaration::Exchange { name, .. } => {
                        let options = ExchangeDeleteOptions::default();
                        channel.exchange_delete(name.into(), options).await
                    }
                    Declaration::Queue { name, .. } => {
                        let options = QueueDeleteOptions::default();
                        channel.queue_delete(name.into(), options).await.map(drop)
                    }
                    _ => Ok(()),
                };
                if let Err(told) = deleted {
                    eprintln!("something is left behind: {told}");
                }
            }
        });
    }
}

/// The transport, remembering which endpoints it declares.
#[derive(Clone)]
pub(crate) struct Remembering(pub(crate) RabbitMqTransport, pub(crate) Endpoints);

impl std::fmt::Debug for Remembering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl Transport for Remembering {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn capabilities(&self) -> TransportCapabilities {
        self.0.capabilities()
    }

    async fn verify(&self, endpoint: &EndpointId) -> Result<(), TransportError> {
        self.1.remember(&self.0, endpoint);
        self.0.verify(endpoint).await
    }

    async fn sender(&self, address: &Address) -> Result<Arc<dyn Sender>, TransportError> {
        self.0.sender(address).await
    }

    async fn lanes(&self, endpoint: &EndpointId) -> Result<Box<dyn LaneSource>, TransportError> {
        self.0.lanes(endpoint).await
    }
}

/// What lies in the dead-letter queue of an endpoint, once something does.
pub(crate) async fn dead_letters(endpoint: &EndpointId) -> Vec<DeadLettered> {
    use lapin::options::BasicGetOptions;
    use lapin::types::AMQPValue;
    let (connection, channel) = stranger().await;
    let queue = format!("{PREFIX}{}.dead", endpoint.as_str().to_ascii_lowercase());
    let mut found = Vec::new();
    for _ in 0..100 {
        // What the broker dead-letters by itself comes a little later.
        while let Some(one) = channel
            .basic_get(queue.as_str().into(), BasicGetOptions::default())
            .await
            .expect("the queue is there")
        {
            let properties = one.delivery.properties;
            let text = |name: &str| {
                let value = properties.headers().as_ref()?.inner().get(name)?;
                match value {
                    AMQPValue::LongString(text) => Some(text.to_string()),
                    _ => None,
                }
            };
            let reason = text("DeadLetterReason").or_else(|| text("x-first-death-reason"));
            found.push(DeadLettered {
                message_id: properties.message_id().as_ref().map(ToString::to_string),
                reason: reason.unwrap_or_default(),
                description: text("DeadLetterErrorDescription").unwrap_or_default(),
            });
        }
        if !found.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // What is not acknowledged goes back.
    let _ = connection.close(200, "OK".into()).await;
    found
}
