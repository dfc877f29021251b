use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lapin::{Channel, Connection, ConnectionProperties};
use nimbus_messaging::TransportError;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::RabbitMqConnection;
use crate::error::failed;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A connection that is made again whenever it is gone and somebody needs it.
///
/// The driver's own recovery is left off: it gives up after some attempts, and it would hide that
/// what was received before belongs to somebody else now.
pub(crate) struct Link {
    connection: RabbitMqConnection,
    purpose: &'static str,
    patience: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Arc<Connection>>,
    /// What the last attempts taught, if they failed.
    backoff: Option<Backoff>,
}

struct Backoff {
    pause: Duration,
    until: Instant,
}

impl Link {
    pub(crate) fn new(
        connection: RabbitMqConnection,
        purpose: &'static str,
        patience: Duration,
    ) -> Self {
        Self {
            connection,
            purpose,
            patience,
            state: Mutex::default(),
        }
    }

    /// A new channel.
    pub(crate) async fn channel(&self) -> Result<Channel, TransportError> {
        let connection = self.connected().await?;
        let opened = timeout(self.patience, connection.create_channel()).await;
        opened
            .map_err(|_| self.silent("opening a channel"))?
            .map_err(|error| failed(format_args!("opening a channel to {}", self.place()), error))
    }

    /// The connection, made now if there is none. After a failed attempt it fails at once for a
    /// while, so that nobody who asks again and again keeps the broker busy.
    async fn connected(&self) -> Result<Arc<Connection>, TransportError> {
        let mut state = self.state.lock().await;
        if let Some(current) = &state.current {
            if current.status().connected() {
                return Ok(Arc::clone(current));
            }
            tracing::warn!(
                broker = self.place(),
                purpose = self.purpose,
                "the connection to RabbitMQ is gone; connecting again"
            );
            state.current = None;
        }
        let now = Instant::now();
        if let Some(backoff) = state.backoff.as_ref().filter(|backoff| now < backoff.until) {
            return Err(TransportError::transient(format!(
                "RabbitMQ at {} could not be reached a moment ago; the next attempt is due in {:?}",
                self.place(),
                backoff.until - now
            )));
        }
        match self.connect().await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.current = Some(Arc::clone(&connection));
                state.backoff = None;
                Ok(connection)
            }
            Err(error) => {
                let last = state.backoff.take().map(|backoff| backoff.pause);
                let pause = last.map_or(FIRST_PAUSE, |last| (last * 2).min(LONGEST_PAUSE));
                state.backoff = Some(Backoff {
                    pause,
                    // Processes that lost a broker together do not come back together.
                    until: Instant::now() + pause.mul_f64(0.5 + fastrand::f64() / 2.0),
                });
                Err(error)
            }
        }
    }

    async fn connect(&self) -> Result<Connection, TransportError> {
        let uri = self.connection.address()?;
        let tls = self.connection.tls().await?;
        let name = format!("nimbus {}", self.purpose);
        let properties = ConnectionProperties::default().with_connection_name(name.into());
        let what = format!("connecting to RabbitMQ at {}", self.place());
        let runtime = lapin::runtime::default_runtime().map_err(|error| failed(&what, error))?;
        let connecting = Connection::connect_uri_with_config(uri, properties, tls, runtime);
        timeout(self.patience, connecting)
            .await
            .map_err(|_| self.silent("connecting"))?
            .map_err(|error| failed(what, error))
    }

    fn silent(&self, what: &str) -> TransportError {
        TransportError::transient(format!(
            "RabbitMQ at {} did not answer within {:?} ({what})",
            self.place(),
            self.patience
        ))
    }

    pub(crate) fn place(&self) -> String {
        self.connection.place()
    }

    /// Closes the connection, if there is one. The next use makes a new one.
    pub(crate) async fn close(&self) {
        let current = self.state.lock().await.current.take();
        if let Some(current) = current {
            // One that is broken is closed already.
            let _ = timeout(self.patience, current.close(200, "OK".into())).await;
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("connection", &self.connection)
            .field("purpose", &self.purpose)
            .finish_non_exhaustive()
    }
}
