//! Tables that are made, or found, at their first use (INB-27).

use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::Pool;
use deadpool_postgres::PoolError;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::pool::Leased;

/// Held while tables are made, over all processes and all tables of this project: making them is
/// rare, and `if not exists` alone fails where two do it at once.
const MAKING: i64 = 0x006e_696d_6275_7331;

/// Tables of one schema, and what makes them.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) schema: String,
    pub(crate) tables: Vec<String>,
    /// For a schema that exists.
    pub(crate) ddl: String,
}

/// Whether the tables of a layout were seen.
#[derive(Debug)]
pub(crate) struct Tables {
    layout: Layout,
    auto_create: bool,
    /// They are looked for again after one was missed.
    is_ready: AtomicBool,
}

/// Why the tables can't be used.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// No connection could be had.
    Pool(PoolError),
    /// The server could not be asked, or refused to create them.
    Statement(tokio_postgres::Error),
    /// What the server stores text as.
    Encoding(String),
    /// They are missing, and may not be created.
    Missing,
}

/// What the catalogue says.
struct Found {
    encoding: String,
    has_schema: bool,
    tables: Vec<String>,
}

impl Tables {
    pub(crate) fn new(layout: Layout, auto_create: bool) -> Self {
        Self {
            layout,
            auto_create,
            is_ready: AtomicBool::new(false),
        }
    }

    /// Looks for the tables unless they were seen before.
    pub(crate) async fn ensure(&self, pool: &Pool) -> Result<(), Unusable> {
        if self.is_ready.load(Ordering::Acquire) {
            return Ok(());
        }
        self.look(pool).await
    }

    /// Looks for the tables, and creates them where that is allowed. Whoever comes at the same
    /// time does the same, which is harmless.
    pub(crate) async fn look(&self, pool: &Pool) -> Result<(), Unusable> {
        let mut leased = Leased::from(pool).await.map_err(Unusable::Pool)?;
        let found = leased.run(async |client| self.find(client).await).await;
        let found = found.map_err(Unusable::Statement)?;
        if found.encoding != "UTF8" {
            return Err(Unusable::Encoding(found.encoding));
        }
        if found.tables.len() < self.layout.tables.len() {
            if !self.auto_create {
                return Err(Unusable::Missing);
            }
            let ddl = self.creation(found.has_schema);
            leased
                .run(async |client| client.batch_execute(&ddl).await)
                .await
                .map_err(Unusable::Statement)?;
        }
        self.is_ready.store(true, Ordering::Release);
        Ok(())
    }

    /// Takes note that a table was missed.
    pub(crate) fn missed(&self) {
        self.is_ready.store(false, Ordering::Release);
    }

    /// Asks the catalogue, which everybody may read, whatever their permissions on the tables.
    async fn find(&self, client: &Client) -> Result<Found, tokio_postgres::Error> {
        let rows = client
            .query_typed(
                "select current_setting('server_encoding'), n.oid is not null, c.relname::text
                 from (select $1 as name) as asked
                 left join pg_catalog.pg_namespace as n on n.nspname = asked.name
                 left join pg_catalog.pg_class as c
                     on c.relnamespace = n.oid and c.relname = any ($2) and c.relkind in ('r', 'p')",
                &[
                    (&self.layout.schema, Type::TEXT),
                    (&self.layout.tables, Type::TEXT_ARRAY),
                ],
            )
            .await?;
        let mut found = Found {
            encoding: String::new(),
            has_schema: false,
            tables: Vec::new(),
        };
        for row in rows {
            found.encoding = row.try_get(0)?;
            found.has_schema = row.try_get(1)?;
            found.tables.extend(row.try_get::<_, Option<String>>(2)?);
        }
        Ok(found)
    }

    /// One text of several statements is one transaction: all of it happens or nothing, however
    /// early the call is dropped.
    fn creation(&self, has_schema: bool) -> String {
        let schema = if has_schema {
            String::new()
        } else {
            format!("create schema if not exists \"{}\";", self.layout.schema)
        };
        format!(
            "select pg_catalog.pg_advisory_xact_lock({MAKING}); {schema} {}",
            self.layout.ddl
        )
    }
}
