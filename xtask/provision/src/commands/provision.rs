//! `cargo xtask provision`: tables in the files and databases that are named.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ArgGroup;
use nimbus_inbox_core::{EndpointId, InboxStore};
use nimbus_inbox_sqlite::{SqliteInbox, SqliteInboxOptions, SqliteSessions};
use nimbus_resolver::ResolverStore;
use nimbus_sqlite::{Database, OpenOptions, SqliteError};
use nimbus_transport_embedded::EmbeddedTransport;

use crate::postgres::Databases;
use crate::rabbitmq::Broker;
use crate::schema::{self, Difference, Missing, Part};

#[derive(clap::Args)]
#[command(
    group = ArgGroup::new("stores").required(true).multiple(true),
    group = ArgGroup::new("inboxes").multiple(true),
    group = ArgGroup::new("databases").multiple(true)
)]
pub(crate) struct Arguments {
    /// SQLite file of the inbox.
    #[arg(long, value_name = "PATH", groups = ["stores", "inboxes"])]
    sqlite: Option<PathBuf>,

    /// Table of the inbox in that file or database, if it isn't the default one.
    #[arg(long, value_name = "NAME", requires = "inboxes")]
    table: Option<String>,

    /// SQLite file of the session store; may be the file of the inbox.
    ///
    /// Only a transport whose broker keeps no sessions needs one.
    #[arg(long, value_name = "PATH", group = "stores")]
    sessions: Option<PathBuf>,

    /// SQLite file of the embedded transport's queues.
    #[arg(long, value_name = "PATH", group = "stores")]
    embedded: Option<PathBuf>,

    /// SQLite file of the resolver.
    #[arg(long, value_name = "PATH", group = "stores")]
    resolver: Option<PathBuf>,

    #[command(flatten)]
    postgres: Databases,

    #[command(flatten)]
    broker: Broker,

    /// Print the statements and touch nothing.
    #[arg(long, conflicts_with = "check")]
    dry_run: bool,

    /// Change nothing; fail if the tables differ from what this version needs, and say how.
    #[arg(long)]
    check: bool,
}

/// What is to be done about the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Print,
    Check,
    Create,
}

/// A file and what it has to hold.
struct Target {
    store: Store,
    path: PathBuf,
    part: Part,
}

enum Store {
    Inbox(SqliteInboxOptions),
    Sessions,
    Embedded,
    Resolver,
}

pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mode = match (arguments.dry_run, arguments.check) {
        (true, _) => Mode::Print,
        (false, true) => Mode::Check,
        (false, false) => Mode::Create,
    };
    let table = arguments.table.as_deref();
    let mut all_as_needed = arguments.postgres.run(table, mode).await?;
    all_as_needed &= arguments.broker.run(mode).await?;
    for target in targets(arguments)? {
        if arguments.dry_run {
            target.print();
        } else if arguments.check {
            all_as_needed &= target.check()?;
        } else {
            all_as_needed &= target.create().await?;
        }
    }
    Ok(if all_as_needed {
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
            part: Part::inbox(&options),
            store: Store::Inbox(options),
        });
    }
    if let Some(path) = &arguments.sessions {
        targets.push(Target {
            path: path.clone(),
            part: Part::sessions(),
            store: Store::Sessions,
        });
    }
    if let Some(path) = &arguments.embedded {
        targets.push(Target {
            path: path.clone(),
            part: Part::embedded_queue(),
            store: Store::Embedded,
        });
    }
    if let Some(path) = &arguments.resolver {
        targets.push(Target {
            path: path.clone(),
            part: Part::resolver(),
            store: Store::Resolver,
        });
    }
    Ok(targets)
}

impl Target {
    fn print(&self) {
        println!("-- {}", self.path.display());
        println!("{}", self.part.ddl.trim_end());
        println!();
    }

    /// Creates what can be created. Says whether the file holds what it has to, and prints what was
    /// created and what differs.
    async fn create(&self) -> anyhow::Result<bool> {
        // Refuses what is no database, with the reason, before anything is written.
        let database = Database::open(&self.path, OpenOptions::default()).await?;
        let before = missing(&database, &self.part).await?;
        let verified = self.verify(&database).await;
        add(&database, &self.part).await?;
        let after = missing(&database, &self.part).await?;
        database.close().await;

        let path = self.path.display();
        let created: Vec<_> = before
            .into_iter()
            .filter(|one| !after.contains(one))
            .collect();
        for label in created.iter().filter_map(|one| one.label(&created)) {
            println!("{path}: created {label}");
        }
        let differences = self.differences()?;
        if differences.iter().all(Difference::is_creatable) {
            verified?;
        }
        let is_as_needed = self.tell(&differences);
        if !is_as_needed {
            println!("This command can't repair that. {BY_HAND}");
        }
        Ok(is_as_needed)
    }

    /// What the store itself does before its first use.
    async fn verify(&self, database: &Database) -> anyhow::Result<()> {
        match &self.store {
            Store::Inbox(options) => {
                let inbox = SqliteInbox::on(database.clone(), options.clone());
                inbox.verify().await?;
            }
            Store::Sessions => {
                // The tables are the same for every endpoint.
                let endpoint = EndpointId::new("provision")?;
                let sessions = SqliteSessions::new(database.clone(), endpoint);
                sessions.verify().await?;
            }
            Store::Embedded => {
                EmbeddedTransport::open(&self.path).await?;
            }
            Store::Resolver => {
                ResolverStore::open(&self.path).await?;
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
        if self.path.is_dir() {
            bail!("{path} can't be checked: it is a directory; give the path of a file");
        }
        let differences = self.differences()?;
        let is_as_needed = self.tell(&differences);
        if !is_as_needed {
            if differences.iter().all(Difference::is_creatable) {
                println!("Run the same command without --check to create them.");
            } else {
                println!("{BY_HAND}");
            }
        }
        Ok(is_as_needed)
    }

    fn differences(&self) -> anyhow::Result<Vec<Difference>> {
        schema::differences(&self.path, &self.part)
            .with_context(|| format!("{} can't be checked", self.path.display()))
    }

    /// Whether there is none.
    fn tell(&self, differences: &[Difference]) -> bool {
        let (path, part) = (self.path.display(), self.part.name);
        if differences.is_empty() {
            println!("{path}: {part} as needed");
            return true;
        }
        println!("{path}: {part} not as needed");
        for difference in differences {
            println!("  {difference}");
        }
        false
    }
}

const BY_HAND: &str = "Tables that exist are never changed: correct them by hand, or give another \
                       file; --dry-run prints the statements.";

async fn missing(database: &Database, part: &Part) -> Result<Vec<Missing>, SqliteError> {
    let part = part.clone();
    database.read(move |tx| schema::missing(tx, &part)).await
}

/// Adds what is missing beside what differs, which the stores don't look for.
///
/// A statement that the file's own tables refuse leaves a difference, and that is reported.
async fn add(database: &Database, part: &Part) -> Result<(), SqliteError> {
    let part = part.clone();
    let adding = database.write(move |tx| {
        for one in schema::missing(tx, &part)? {
            let _ = tx.execute_batch(&one.sql);
        }
        // The rows that a table begins with.
        let _ = tx.execute_batch(&part.ddl);
        Ok(())
    });
    adding.await
}
