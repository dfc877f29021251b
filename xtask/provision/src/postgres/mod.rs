//! Tables in PostgreSQL.

mod difference;
mod shape;

use std::env;

use anyhow::Context;
use nimbus_inbox_core::{EndpointId, InboxStore};
use nimbus_inbox_postgres::deadpool_postgres::{Client, Pool, PoolError};
use nimbus_inbox_postgres::{
    PostgresConnection, PostgresInbox, PostgresInboxOptions, PostgresSessions,
};

use self::difference::Difference;
use self::shape::Table;
use crate::commands::provision::Mode;

/// The databases that are named, and where in them the tables are.
#[derive(clap::Args)]
pub(crate) struct Databases {
    /// PostgreSQL database of the inbox: postgres://user@host:5432/database.
    ///
    /// Log in with a role that may create tables. A password that is not in the address is taken
    /// from PGPASSWORD.
    #[arg(long, value_name = "URL", groups = ["stores", "inboxes", "databases"])]
    postgres: Option<String>,

    /// PostgreSQL database of the session store; may be that of the inbox.
    ///
    /// Only a transport whose broker keeps no sessions needs one.
    #[arg(long, value_name = "URL", groups = ["stores", "databases"])]
    postgres_sessions: Option<String>,

    /// Schema of the tables in PostgreSQL, if it isn't the default one.
    #[arg(long, value_name = "NAME", requires = "databases")]
    schema: Option<String>,

    /// Role of the service: gets the permissions it needs on the tables, and no other.
    #[arg(
        long,
        value_name = "ROLE",
        requires = "databases",
        conflicts_with = "check"
    )]
    runtime_role: Option<String>,
}

/// What a database has to hold.
struct Part {
    name: &'static str,
    ddl: String,
    grants: Option<String>,
    tables: Vec<Table>,
}

impl Databases {
    /// Says whether each database holds what it has to.
    pub(crate) async fn run(&self, table: Option<&str>, mode: Mode) -> anyhow::Result<bool> {
        let mut options = PostgresInboxOptions::default();
        if let Some(schema) = &self.schema {
            options = options.with_schema(schema)?;
        }
        // It may be that of an inbox in a file, where other names are allowed.
        if let (Some(table), true) = (table, self.postgres.is_some()) {
            options = options.with_table(table)?;
        }
        let role = self.runtime_role.as_deref();
        let mut is_as_needed = true;
        if let Some(url) = &self.postgres {
            is_as_needed &= inbox(url, &options, role, mode).await?;
        }
        if let Some(url) = &self.postgres_sessions {
            is_as_needed &= sessions(url, &options, role, mode).await?;
        }
        Ok(is_as_needed)
    }
}

async fn inbox(
    url: &str,
    options: &PostgresInboxOptions,
    role: Option<&str>,
    mode: Mode,
) -> anyhow::Result<bool> {
    let part = Part {
        name: "inbox",
        ddl: options.ddl(),
        grants: role.map(|role| options.grants(role)),
        tables: shape::inbox(options),
    };
    let connection = connection(url)?;
    let place = connection.to_string();
    if mode == Mode::Print {
        part.print(&place);
        return Ok(true);
    }
    let inbox = PostgresInbox::open_with(connection, options.clone()).await?;
    if mode == Mode::Check {
        return part.check(&place, inbox.pool()).await;
    }
    let before = part.missing(inbox.pool()).await?;
    let verified = inbox.verify().await;
    let is_as_needed = part.finish(&place, inbox.pool(), &before).await?;
    if is_as_needed {
        verified?;
    }
    Ok(is_as_needed)
}

async fn sessions(
    url: &str,
    options: &PostgresInboxOptions,
    role: Option<&str>,
    mode: Mode,
) -> anyhow::Result<bool> {
    let schema = options.schema();
    let part = Part {
        name: "sessions",
        ddl: PostgresSessions::ddl(schema)?,
        grants: role
            .map(|role| PostgresSessions::grants(schema, role))
            .transpose()?,
        tables: shape::sessions(schema),
    };
    let connection = connection(url)?;
    let place = connection.to_string();
    if mode == Mode::Print {
        part.print(&place);
        return Ok(true);
    }
    // The tables are the same for every endpoint.
    let endpoint = EndpointId::new("provision")?;
    let inbox = PostgresInbox::open_with(connection, options.clone()).await?;
    if mode == Mode::Check {
        return part.check(&place, inbox.pool()).await;
    }
    let before = part.missing(inbox.pool()).await?;
    let verified = PostgresSessions::beside(&inbox, endpoint).verify().await;
    let is_as_needed = part.finish(&place, inbox.pool(), &before).await?;
    if is_as_needed {
        verified?;
    }
    Ok(is_as_needed)
}

fn connection(url: &str) -> anyhow::Result<PostgresConnection> {
    let connection = PostgresConnection::parse(url)?;
    Ok(match env::var("PGPASSWORD") {
        Ok(password) if !password.is_empty() => connection.with_password(password),
        _ => connection,
    })
}

impl Part {
    fn print(&self, place: &str) {
        println!("-- {place}");
        println!("{}", self.ddl.trim_end());
        if let Some(grants) = &self.grants {
            println!("\n{}", grants.trim_end());
        }
        println!();
    }

    async fn differences(&self, pool: &Pool) -> anyhow::Result<Vec<Difference>> {
        let client = connected(pool).await?;
        difference::between(&client, &self.tables)
            .await
            .context("the tables can't be looked at")
    }

    async fn missing(&self, pool: &Pool) -> anyhow::Result<Vec<String>> {
        let differences = self.differences(pool).await?;
        let missing = differences.iter().filter_map(Difference::missing);
        Ok(missing.collect())
    }

    /// Adds what the store itself doesn't add, such as an index on a table that exists, and says
    /// what was created and what differs.
    async fn finish(&self, place: &str, pool: &Pool, before: &[String]) -> anyhow::Result<bool> {
        let left = self.missing(pool).await?;
        if !left.is_empty() {
            let client = connected(pool).await?;
            for statement in self.ddl.split_inclusive(";\n") {
                // What the database's own tables refuse is reported as a difference.
                let _ = client.batch_execute(statement).await;
            }
        }
        let after = self.missing(pool).await?;
        for created in before.iter().filter(|one| !after.contains(one)) {
            println!("{place}: created {created}");
        }
        if let Some(grants) = &self.grants {
            let client = connected(pool).await?;
            client
                .batch_execute(grants)
                .await
                .map_err(told)
                .context("the runtime role could not be given its permissions")?;
            println!(
                "{place}: {}: permissions of the runtime role granted",
                self.name
            );
        }
        let differences = self.differences(pool).await?;
        let is_as_needed = self.tell(place, &differences);
        if !is_as_needed {
            println!("This command can't repair that. {BY_HAND}");
        }
        Ok(is_as_needed)
    }

    async fn check(&self, place: &str, pool: &Pool) -> anyhow::Result<bool> {
        let differences = self.differences(pool).await?;
        let is_as_needed = self.tell(place, &differences);
        if !is_as_needed {
            if differences.iter().all(|one| one.missing().is_some()) {
                println!("Run the same command without --check to create them.");
            } else {
                println!("{BY_HAND}");
            }
        }
        Ok(is_as_needed)
    }

    /// Whether there is no difference.
    fn tell(&self, place: &str, differences: &[Difference]) -> bool {
        if differences.is_empty() {
            println!("{place}: {} as needed", self.name);
            return true;
        }
        println!("{place}: {} not as needed", self.name);
        for difference in differences {
            println!("  {difference}");
        }
        false
    }
}

const BY_HAND: &str = "Tables that exist are never changed: correct them by hand, or give another \
                       schema; --dry-run prints the statements.";

async fn connected(pool: &Pool) -> anyhow::Result<Client> {
    let got = pool.get().await.map_err(|error| match error {
        // Its own text holds its cause, which would be told twice.
        PoolError::Backend(error) => told(error),
        other => other.into(),
    });
    got.context("the server can't be asked")
}

/// The server's own words, which its error hides behind "db error".
fn told(error: nimbus_inbox_postgres::tokio_postgres::Error) -> anyhow::Error {
    match error.as_db_error() {
        Some(said) => anyhow::anyhow!("{} (SQLSTATE {})", said.message(), said.code().code()),
        None => error.into(),
    }
}
