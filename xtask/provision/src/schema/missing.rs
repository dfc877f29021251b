use nimbus_sqlite::rusqlite::{self, Connection};

use super::Part;

/// A table or an index that a file needs and doesn't have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    /// `table` or `index`.
    kind: String,
    name: String,
    /// The table that an index is on.
    table: String,
    pub(crate) sql: String,
}

impl Missing {
    /// What it is, unless it comes with a table that is missing as well.
    pub(crate) fn label(&self, all: &[Self]) -> Option<String> {
        let comes_along = self.kind == "index"
            && all
                .iter()
                .any(|one| one.kind == "table" && one.table == self.table);
        (!comes_along).then(|| format!("{} {}", self.kind, self.name))
    }
}

/// What `live` lacks of `part`, tables before their indexes.
pub(crate) fn missing(live: &Connection, part: &Part) -> rusqlite::Result<Vec<Missing>> {
    let needed = part.needed()?;
    // Indexes of keys have no statement: they come with their table.
    let mut statement = needed.prepare(
        "select type, name, tbl_name, sql from sqlite_schema
         where name not like 'sqlite\\_%' escape '\\' and sql is not null order by rowid",
    )?;
    let needed = statement.query_map((), |row| {
        Ok(Missing {
            kind: row.get(0)?,
            name: row.get(1)?,
            table: row.get(2)?,
            sql: row.get(3)?,
        })
    })?;
    let mut missing = Vec::new();
    for one in needed {
        let one = one?;
        let is_there = live
            .prepare_cached(
                "select 1 from sqlite_schema where type = ?1 and name = ?2 collate nocase",
            )?
            .exists([&one.kind, &one.name])?;
        if !is_there {
            missing.push(one);
        }
    }
    Ok(missing)
}
