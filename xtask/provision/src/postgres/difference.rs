//! What is missing from a live schema, or other than needed, in words.

use std::collections::BTreeMap;
use std::fmt;

use nimbus_inbox_postgres::tokio_postgres::{Client, Error};

use super::shape::Table;

/// One thing that is not as needed.
#[derive(Debug)]
pub(super) enum Difference {
    /// A table or an index that can be created.
    Missing { table: String, what: String },
    /// In a table that exists, and nothing that can be added to it.
    Other { table: String, what: String },
}

impl Difference {
    /// What creating removes.
    pub(super) fn missing(&self) -> Option<String> {
        match self {
            Self::Missing { table, what } if what.is_empty() => Some(format!("table {table}")),
            Self::Missing { table, what } => Some(format!("{what} of table {table}")),
            Self::Other { .. } => None,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { table, what } if what.is_empty() => {
                write!(f, "table {table}: missing")
            }
            Self::Missing { table, what } => write!(f, "table {table}: {what} is missing"),
            Self::Other { table, what } => write!(f, "table {table}: {what}"),
        }
    }
}

/// What of `needed` the database lacks or has in another way. Columns and indexes that somebody
/// added are no difference, unless a record could not be written without them.
pub(super) async fn between(client: &Client, needed: &[Table]) -> Result<Vec<Difference>, Error> {
    let mut differences = Vec::new();
    for table in needed {
        of(client, table, &mut differences).await?;
    }
    Ok(differences)
}

async fn of(client: &Client, needed: &Table, found: &mut Vec<Difference>) -> Result<(), Error> {
    let table = format!("{}.{}", needed.schema, needed.name);
    let Some(oid) = identity(client, needed).await? else {
        let what = String::new();
        found.push(Difference::Missing { table, what });
        return Ok(());
    };
    let other = |what: String| Difference::Other {
        table: table.clone(),
        what,
    };
    let mut columns = columns(client, oid).await?;
    for column in &needed.columns {
        let (name, should) = (column.name, &column.definition);
        match columns.remove(name) {
            Some(live) if live.definition == *should => {}
            Some(live) => found.push(other(format!(
                "column {name} is {}, should be {should}",
                live.definition
            ))),
            None => found.push(other(format!(
                "column {name} is missing, should be {should}"
            ))),
        }
    }
    for (name, live) in columns {
        if live.is_required {
            found.push(other(format!(
                "column {name} is {}, which no record has a value for",
                live.definition
            )));
        }
    }
    let indexes = indexes(client, oid).await?;
    let key = indexes.iter().find(|index| index.is_key);
    if key.is_none_or(|key| key.columns != needed.key) {
        let is = key.map_or_else(|| "missing".to_owned(), |key| key.columns.join(", "));
        let should = needed.key.join(", ");
        found.push(other(format!(
            "the primary key is {is}, should be {should}"
        )));
    }
    if let Some(index) = &needed.index {
        let serves = |live: &LiveIndex| !live.is_partial && live.columns == index.columns;
        match indexes.iter().find(|live| live.name == index.name) {
            _ if indexes.iter().any(serves) => {}
            None => found.push(Difference::Missing {
                table,
                what: format!("index {}", index.name),
            }),
            Some(live) => found.push(other(format!(
                "index {} is on ({}), should be on ({})",
                index.name,
                live.columns.join(", "),
                index.columns.join(", ")
            ))),
        }
    }
    Ok(())
}

async fn identity(client: &Client, table: &Table) -> Result<Option<u32>, Error> {
    let row = client
        .query_opt(
            "select c.oid from pg_catalog.pg_class as c
             join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
             where n.nspname = $1::text and c.relname = $2::text and c.relkind in ('r', 'p')",
            &[&table.schema, &table.name],
        )
        .await?;
    row.map(|row| row.try_get(0)).transpose()
}

struct LiveColumn {
    definition: String,
    /// A row can't be inserted without a value for it.
    is_required: bool,
}

async fn columns(client: &Client, table: u32) -> Result<BTreeMap<String, LiveColumn>, Error> {
    let rows = client
        .query(
            "select a.attname::text,
                 pg_catalog.format_type(a.atttypid, a.atttypmod)
                     || case when a.attnotnull then ' not null' else '' end
                     || coalesce(' default ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid), '')
                     || case when a.attcollation = t.typcollation then ''
                         else ' collate \"' || c.collname || '\"' end,
                 a.attnotnull and d.oid is null and a.attidentity = '' and a.attgenerated = ''
             from pg_catalog.pg_attribute as a
             join pg_catalog.pg_type as t on t.oid = a.atttypid
             left join pg_catalog.pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
             left join pg_catalog.pg_collation as c on c.oid = a.attcollation
             where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped",
            &[&table],
        )
        .await?;
    rows.into_iter()
        .map(|row| {
            let column = LiveColumn {
                definition: row.try_get(1)?,
                is_required: row.try_get(2)?,
            };
            Ok((row.try_get(0)?, column))
        })
        .collect()
}

struct LiveIndex {
    name: String,
    is_key: bool,
    is_partial: bool,
    columns: Vec<String>,
}

async fn indexes(client: &Client, table: u32) -> Result<Vec<LiveIndex>, Error> {
    let rows = client
        .query(
            "select c.relname::text, i.indisprimary, i.indpred is not null,
                 array(select pg_catalog.pg_get_indexdef(i.indexrelid, k, true)
                       from generate_series(1, i.indnkeyatts) as k)
             from pg_catalog.pg_index as i
             join pg_catalog.pg_class as c on c.oid = i.indexrelid
             where i.indrelid = $1 and i.indisvalid order by 1",
            &[&table],
        )
        .await?;
    rows.into_iter()
        .map(|row| {
            Ok(LiveIndex {
                name: row.try_get(0)?,
                is_key: row.try_get(1)?,
                is_partial: row.try_get(2)?,
                columns: row.try_get(3)?,
            })
        })
        .collect()
}
