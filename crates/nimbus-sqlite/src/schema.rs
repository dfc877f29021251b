//! Tables: made once, whoever comes first, or only looked for.

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::error::{ErrorKind, SqliteError};
use crate::site::Site;

/// A named set of tables and the steps that make them.
///
/// The version that a file has reached is kept in its table `nimbus_schema`,
/// by name, so several schemas can share a file.
#[derive(Debug, Clone)]
pub struct Schema {
    name: String,
    tables: Vec<String>,
    steps: Vec<String>,
}

impl Schema {
    /// A schema without tables yet. Two schemas in one file need two names.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            tables: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// A table that must exist once all steps ran.
    #[must_use]
    pub fn with_table(mut self, name: impl Into<String>) -> Self {
        self.tables.push(name.into());
        self
    }

    /// Statements that lead to the next version, separated by semicolons.
    ///
    /// A step must tolerate to run on a file that has its result already
    /// (`create table if not exists`): somebody may have created the tables by
    /// hand.
    #[must_use]
    pub fn with_step(mut self, ddl: impl Into<String>) -> Self {
        self.steps.push(ddl.into());
        self
    }

    /// All steps in order: what to run by hand to have no table created
    /// automatically.
    #[must_use]
    pub fn ddl(&self) -> String {
        self.steps.join("\n")
    }

    fn latest(&self) -> i64 {
        i64::try_from(self.steps.len()).unwrap_or(i64::MAX)
    }

    /// Where the file stands, as seen by `connection`.
    pub(crate) fn inspect(&self, connection: &Connection) -> rusqlite::Result<Standing> {
        let recorded = recorded_version(connection, &self.name)?;
        let missing = missing_tables(connection, &self.tables)?;
        Ok(match recorded {
            Some(recorded) if recorded > self.latest() => Standing::Newer { recorded },
            _ if !missing.is_empty() => Standing::Missing(missing),
            None => Standing::Unrecorded,
            Some(recorded) if recorded < self.latest() => Standing::Older { recorded },
            Some(_) => Standing::Current,
        })
    }

    /// Runs the steps that the file lacks, in the caller's write transaction,
    /// after which nobody else can run them.
    pub(crate) fn apply(&self, tx: &Transaction<'_>) -> rusqlite::Result<Standing> {
        let standing = self.inspect(tx)?;
        let reached = match &standing {
            Standing::Current | Standing::Newer { .. } => return Ok(standing),
            Standing::Missing(_) | Standing::Unrecorded => 0,
            Standing::Older { recorded } => usize::try_from(*recorded).unwrap_or(0),
        };
        for step in self.steps.iter().skip(reached) {
            tx.execute_batch(step)?;
        }
        tx.execute_batch(
            "create table if not exists nimbus_schema (
                name text not null primary key,
                version integer not null
            ) strict",
        )?;
        tx.execute(
            "insert into nimbus_schema (name, version) values (?1, ?2)
             on conflict (name) do update set version = excluded.version",
            (&self.name, self.latest()),
        )?;
        self.inspect(tx)
    }
}

/// How a file relates to a [`Schema`].
pub(crate) enum Standing {
    /// All tables, all steps.
    Current,
    /// All tables, made by hand.
    Unrecorded,
    /// All tables, and steps are still to run.
    Older { recorded: i64 },
    /// These tables don't exist.
    Missing(Vec<String>),
    /// Steps ran that this version doesn't know.
    Newer { recorded: i64 },
}

impl Standing {
    pub(crate) fn is_current(&self) -> bool {
        matches!(self, Self::Current)
    }

    /// Whether the tables can be used as they are.
    pub(crate) fn into_usable(
        self,
        schema: &Schema,
        site: &Site,
        operation: &'static str,
    ) -> Result<(), SqliteError> {
        let recorded = match self {
            Self::Current | Self::Unrecorded => {
                site.require(&schema.tables);
                return Ok(());
            }
            Self::Missing(tables) => {
                return Err(site
                    .fault(ErrorKind::MissingTable, operation)
                    .with_detail(tables.join(", ")));
            }
            Self::Older { recorded } | Self::Newer { recorded } => recorded,
        };
        Err(site
            .fault(ErrorKind::SchemaVersion, operation)
            .with_detail(format!(
                "{} has version {recorded}, needed is {}",
                schema.name,
                schema.latest()
            )))
    }
}

/// Those of `tables` that the file doesn't have.
pub(crate) fn missing_tables<'a>(
    connection: &Connection,
    tables: impl IntoIterator<Item = &'a String>,
) -> rusqlite::Result<Vec<String>> {
    let mut missing = Vec::new();
    for table in tables {
        if !table_exists(connection, table)? {
            missing.push(table.clone());
        }
    }
    Ok(missing)
}

fn table_exists(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "select 1 from sqlite_schema where type = 'table' and name = ?1 collate nocase",
        )?
        .exists([table])
}

fn recorded_version(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    if !table_exists(connection, "nimbus_schema")? {
        return Ok(None);
    }
    connection
        .query_row(
            "select version from nimbus_schema where name = ?1",
            [name],
            |row| row.get(0),
        )
        .optional()
}
