//! The contract (INB-21 to INB-27), a round trip for each call.

use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::Pool;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, Operation, PurgeLimit, Recorded,
    StoreCapabilities, StoreStats, Timestamp,
};

use super::Statements;
use crate::error::{PROVIDER, Phase, Site, Verdict, verdict};
use crate::options::PostgresInboxOptions;
use crate::pool::Leased;
use crate::schema;
use crate::tables::{Layout, Tables};

/// The records, without shared calls. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Records(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pool: Pool,
    site: Site,
    tables: Tables,
    statements: Statements,
    options: PostgresInboxOptions,
}

impl Records {
    pub(crate) fn new(pool: Pool, server: String, options: PostgresInboxOptions) -> Self {
        let table = &options.table;
        let layout = Layout {
            schema: table.schema().to_owned(),
            tables: vec![table.name().to_owned()],
            ddl: schema::table_ddl(table),
        };
        Self(Arc::new(Inner {
            pool,
            tables: Tables::new(layout, options.auto_create),
            statements: Statements::new(table),
            site: Site {
                server,
                tables: table.plain(),
                command: table.provision_command(),
            },
            options,
        }))
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.0.pool
    }

    pub(crate) fn site(&self) -> &Site {
        &self.0.site
    }

    #[cfg(feature = "sessions")]
    pub(crate) fn options(&self) -> &PostgresInboxOptions {
        &self.0.options
    }

    pub(crate) fn statements(&self) -> &Statements {
        &self.0.statements
    }

    /// Makes sure that the table is there before it is used for the first time.
    pub(crate) async fn ensure(&self, operation: Operation) -> Result<(), Error> {
        let ready = self.0.tables.ensure(&self.0.pool).await;
        ready.map_err(|unusable| self.0.site.unusable(operation, unusable))
    }

    pub(crate) async fn lease(&self, pool: &Pool, operation: Operation) -> Result<Leased, Error> {
        let leased = Leased::from(pool).await;
        leased.map_err(|error| self.0.site.no_connection(operation, error))
    }

    pub(crate) fn read_failed(&self, operation: Operation, error: tokio_postgres::Error) -> Error {
        self.noticed(&error);
        self.0.site.read_failed(operation, error)
    }

    pub(crate) fn write_failed(&self, operation: Operation, error: tokio_postgres::Error) -> Error {
        self.noticed(&error);
        self.0.site.write_failed(operation, error)
    }

    fn noticed(&self, error: &tokio_postgres::Error) {
        if verdict(error, Phase::Reading) == Verdict::Missing {
            self.0.tables.missed();
        }
    }

    async fn rehearse(&self) -> Result<(), Error> {
        let statements = self.statements();
        let mut leased = self.lease(self.pool(), Operation::Verify).await?;
        let rehearsed = leased
            .run(async |client| statements.rehearse(client).await)
            .await;
        match rehearsed {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.0.site.foreign(Operation::Verify)),
            Err(error) => Err(self.read_failed(Operation::Verify, error)),
        }
    }
}

#[async_trait]
impl InboxStore for Records {
    fn provider(&self) -> &'static str {
        PROVIDER
    }

    fn capabilities(&self) -> StoreCapabilities {
        StoreCapabilities {
            durable: true,
            shared: true,
            atomic_batches: true,
        }
    }

    async fn verify(&self) -> Result<(), Error> {
        let found = self.0.tables.look(&self.0.pool).await;
        found.map_err(|unusable| self.0.site.unusable(Operation::Verify, unusable))?;
        self.rehearse().await
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.ensure(Operation::Check).await?;
        let mut leased = self.lease(self.pool(), Operation::Check).await?;
        let found = leased.run(async |client| self.statements().check(client, keys).await);
        let found = found.await;
        found.map_err(|error| self.read_failed(Operation::Check, error))
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.ensure(Operation::Record).await?;
        let mut leased = self.lease(self.pool(), Operation::Record).await?;
        let patience = self.0.options.lock_timeout;
        let recorded = leased
            .run(async |client| self.statements().record(client, keys, patience).await)
            .await;
        recorded.map_err(|error| self.write_failed(Operation::Record, error))
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        self.ensure(Operation::Purge).await?;
        let mut leased = self.lease(self.pool(), Operation::Purge).await?;
        let statements = self.statements();
        let purged = leased
            .run(async |client| statements.purge(client, endpoint, cutoff, limit).await)
            .await;
        purged.map_err(|error| self.write_failed(Operation::Purge, error))
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        self.ensure(Operation::Check).await?;
        let mut leased = self.lease(self.pool(), Operation::Check).await?;
        let statements = self.statements();
        let counted = leased
            .run(async |client| statements.stats(client, endpoint).await)
            .await;
        counted
            .map(Some)
            .map_err(|error| self.read_failed(Operation::Check, error))
    }
}
