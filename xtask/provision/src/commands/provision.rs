//! `cargo xtask provision`: tables in the files that are named.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ArgGroup;
use nimbus_inbox_core::{EndpointId, InboxStore};
use nimbus_inbox_sqlite::{SqliteInbox, SqliteInboxOptions, SqliteSessions};
use nimbus_sqlite::{Database, OpenOptions};
use nimbus_transport_embedded::EmbeddedTransport;

use crate::schema::{self, Difference, Part};

#[derive(clap::Args)]
#[command(group = ArgGroup::new("stores").required(true).multiple(true))]
pub(crate) struct Arguments {
    /// SQLite file of the inbox and of the session store.
    #[arg(long, value_name = "PATH", group = "stores")]
    sqlite: Option<PathBuf>,

    /// Table of the inbox in that file, if it isn't the default one.
    #[arg(long, value_name = "NAME", requires = "sqlite")]
    table: Option<String>,

    /// SQLite file of the embedded transport's queues.
    #[arg(long, value_name = "PATH", group = "stores")]
    embedded: Option<PathBuf>,

    /// Print the statements and touch nothing.
    #[arg(long, conflicts_with = "check")]
    dry_run: bool,

    /// Change nothing; fail if the tables differ from what this version needs, and say how.
    #[arg(long)]
    check: bool,
}

/// A file and what it has to hold.
struct Target {
    store: Store,
    path: PathBuf,
    parts: Vec<Part>,
}

enum Store {
    Sqlite(SqliteInboxOptions),
    Embedded,
}

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut all_as_expected = true;
    for target in targets(arguments)? {
        if arguments.dry_run {
            target.print();
            continue;
        }
        if !arguments.check {
            target.create().await?;
        }
        all_as_expected &= target.check()?;
    }
    Ok(if all_as_expected {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn targets(arguments: &Arguments) -> anyhow::Result<Vec<Target>> {
    let mut targets = Vec::new();
    if let Some(path) = &arguments.sqlite {
        let mut options = SqliteInboxOptions::default();
        if let Some(name) = &arguments.table {
            options = options.with_table(name)?;
        }
        targets.push(Target {
            path: path.clone(),
            parts: schema::sqlite(&options),
            store: Store::Sqlite(options),
        });
    }
    if let Some(path) = &arguments.embedded {
        targets.push(Target {
            path: path.clone(),
            parts: schema::embedded(),
            store: Store::Embedded,
        });
    }
    Ok(targets)
}

impl Target {
    fn print(&self) {
        println!("-- {}", self.path.display());
        for part in &self.parts {
            println!("{}", part.ddl.trim_end());
            println!();
        }
    }

    async fn create(&self) -> anyhow::Result<()> {
        match &self.store {
            Store::Sqlite(options) => {
                let database = Database::open(&self.path, OpenOptions::default()).await?;
                SqliteInbox::on(database.clone(), options.clone())
                    .verify()
                    .await?;
                // The tables are the same for every endpoint.
                let endpoint = EndpointId::new("provision")?;
                SqliteSessions::new(database.clone(), endpoint)
                    .verify()
                    .await?;
                database.close().await;
            }
            Store::Embedded => {
                EmbeddedTransport::open(&self.path).await?;
            }
        }
        Ok(())
    }

    /// Says whether the file holds what it has to, and prints what differs.
    fn check(&self) -> anyhow::Result<bool> {
        let path = self.path.display();
        if !self.path.exists() {
            bail!("{path} does not exist; run the same command without --check to create it");
        }
        let differences = schema::differences(&self.path, &self.parts)
            .with_context(|| format!("{path} can't be checked"))?;
        let parts: Vec<_> = self.parts.iter().map(|part| part.name).collect();
        let parts = parts.join(" and ");
        if differences.is_empty() {
            println!("{path}: {parts} as needed");
            return Ok(true);
        }
        println!("{path}: {parts} not as needed");
        for difference in &differences {
            println!("  {difference}");
        }
        let only_missing = |difference: &Difference| matches!(difference, Difference::Missing(_));
        if differences.iter().all(only_missing) {
            println!("Run the same command without --check to create them.");
        } else {
            println!(
                "Tables that exist are never changed: correct them by hand, or give another file; \
                 --dry-run prints the statements."
            );
        }
        Ok(false)
    }
}
