//! Connections: how many, for how long, and when one may be used again.

use std::ops::Deref;
use std::time::Duration;

use deadpool_postgres::{
    Client, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime,
};
use nimbus_inbox_core::{Error, Operation};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::error::Severity;
use tokio_postgres::{Config, NoTls};

use crate::connection::{self, PostgresConnection};
use crate::error::misconfigured;
use crate::options::PostgresInboxOptions;

/// How long a connection whose call was dropped may take to become idle before it is closed.
const SETTLING: Duration = Duration::from_secs(1);

/// A pool of connections to the server. Nothing is connected yet.
pub(crate) async fn open(
    connection: &PostgresConnection,
    options: &PostgresInboxOptions,
) -> Result<(Pool, String), Error> {
    let mut config = connection.driver_config()?;
    let place = connection::place(&config);
    let settings = settings(&config, options);
    config.options(settings);
    let manager = match config.get_ssl_mode() {
        tokio_postgres::config::SslMode::Disable => {
            Manager::from_config(config, NoTls, recycling())
        }
        _ => {
            let tls = connection::connector(connection.ca_file()).await?;
            Manager::from_config(config, tls, recycling())
        }
    };
    let pool = Pool::builder(manager)
        .max_size(options.pool_size.get())
        .wait_timeout(Some(options.acquire_timeout))
        .create_timeout(Some(options.acquire_timeout))
        .recycle_timeout(Some(options.acquire_timeout))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|problem| {
            misconfigured(Operation::Open, "the pool can't be built").with_source(problem)
        })?;
    Ok((pool, place))
}

/// A connection that was lost is noticed by the task that reads from it; asking the server each
/// time would double the round trips.
fn recycling() -> ManagerConfig {
    ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    }
}

/// What each session begins with. Settings that the connection string gives come last, and win.
///
/// At any other isolation level a record would fail where it meets a concurrent one, instead of
/// finding it.
fn settings(config: &Config, options: &PostgresInboxOptions) -> String {
    let ours = format!(
        "-c default_transaction_isolation=read\\ committed -c statement_timeout={}",
        options.statement_timeout.as_millis()
    );
    match config.get_options() {
        Some(theirs) => format!("{ours} {theirs}"),
        None => ours,
    }
}

/// A pooled connection that goes back to the pool only when nothing is under way on it.
///
/// A call that is dropped leaves its answer, or its rollback, on the way; whoever used the
/// connection next would wait behind it.
#[derive(Debug)]
pub(crate) struct Leased {
    client: Option<Client>,
    pub(crate) is_busy: bool,
}

impl Leased {
    pub(crate) async fn from(pool: &Pool) -> Result<Self, PoolError> {
        Ok(Self {
            client: Some(pool.get().await?),
            is_busy: false,
        })
    }

    /// Runs one call. The connection stays out of the pool if the call is dropped, until it is
    /// idle again.
    pub(crate) async fn run<T>(
        &mut self,
        call: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, tokio_postgres::Error> {
        self.is_busy = true;
        let answer = call(self).await;
        self.is_busy = matches!(&answer, Err(error) if leaves_doubt(error));
        answer
    }

    /// The connection, and the mark of it being in use.
    pub(crate) fn parts(&mut self) -> (&mut tokio_postgres::Client, &mut bool) {
        let client = self.client.as_mut().expect("only dropping takes it");
        (client, &mut self.is_busy)
    }
}

impl Deref for Leased {
    type Target = tokio_postgres::Client;

    fn deref(&self) -> &tokio_postgres::Client {
        self.client.as_ref().expect("only dropping takes it")
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else {
            return;
        };
        if !self.is_busy {
            return;
        }
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(settle(client))),
            Err(_) => close(client),
        }
    }
}

/// A plain refusal ends a call; after anything else the connection may be lost, or about to be.
fn leaves_doubt(error: &tokio_postgres::Error) -> bool {
    let refusal = error.as_db_error();
    refusal.is_none_or(|refusal| refusal.parsed_severity() != Some(Severity::Error))
}

/// Keeps the connection's place in the pool until what was under way on it is over, or closes it.
async fn settle(client: Client) {
    // Answers come in order: the answer to this comes after all others.
    let is_idle = timeout(SETTLING, client.check_connection()).await;
    if !matches!(is_idle, Ok(Ok(()))) {
        close(client);
    }
}

fn close(client: Client) {
    drop(Client::take(client));
}
