//! The tables of a database as SQLite understands them, whoever wrote the statements and how.

use std::collections::BTreeMap;

use nimbus_sqlite::rusqlite::{self, Connection};

/// Tables by name.
#[derive(Debug)]
pub(super) struct Shape(pub(super) BTreeMap<String, Table>);

#[derive(Debug)]
pub(super) struct Table {
    pub(super) is_strict: bool,
    pub(super) has_rowid: bool,
    /// By name; their order doesn't matter to statements that name them.
    pub(super) columns: BTreeMap<String, Column>,
    /// By name, those that belong to keys and constraints by their columns.
    pub(super) indexes: BTreeMap<String, Index>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) type_name: String,
    pub(super) is_required: bool,
    pub(super) default: Option<String>,
    /// Its place in the primary key; 0 if it isn't part of it.
    pub(super) key_place: i64,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Index {
    /// Made by a key or a constraint of its table.
    pub(super) is_of_key: bool,
    pub(super) is_unique: bool,
    /// With direction and collation.
    pub(super) columns: Vec<String>,
    /// The condition of a partial index.
    pub(super) condition: Option<String>,
}

impl Shape {
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare(
            "select name, strict, wr from pragma_table_list
             where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'",
        )?;
        let tables = statement.query_map((), |row| {
            let name: String = row.get(0)?;
            let table = Table {
                is_strict: row.get(1)?,
                has_rowid: !row.get::<_, bool>(2)?,
                columns: columns(connection, &name)?,
                indexes: indexes(connection, &name)?,
            };
            // Names of tables have no case.
            Ok((name.to_ascii_lowercase(), table))
        })?;
        tables.collect::<rusqlite::Result<_>>().map(Self)
    }
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<BTreeMap<String, Column>> {
    connection
        .prepare(
            "select lower(name), upper(type), \"notnull\", dflt_value, pk
             from pragma_table_xinfo(?1)",
        )?
        .query_map([table], |row| {
            let column = Column {
                type_name: row.get(1)?,
                is_required: row.get(2)?,
                default: row.get(3)?,
                key_place: row.get(4)?,
            };
            Ok((row.get(0)?, column))
        })?
        .collect()
}

fn indexes(connection: &Connection, table: &str) -> rusqlite::Result<BTreeMap<String, Index>> {
    connection
        .prepare(
            "select list.name, list.\"unique\", list.origin, made.sql
             from pragma_index_list(?1) as list
             left join sqlite_schema as made on made.type = 'index' and made.name = list.name",
        )?
        .query_map([table], |row| {
            let (name, origin): (String, String) = (row.get(0)?, row.get(2)?);
            let index = Index {
                is_of_key: origin != "c",
                is_unique: row.get(1)?,
                columns: index_columns(connection, &name)?,
                condition: row
                    .get::<_, Option<String>>(3)?
                    .and_then(|sql| condition(&sql)),
            };
            let name = if index.is_of_key {
                // SQLite numbers them in the order of the statement.
                format!("of the key ({})", index.columns.join(", "))
            } else {
                name.to_ascii_lowercase()
            };
            Ok((name, index))
        })?
        .collect()
}

fn index_columns(connection: &Connection, index: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(
            "select lower(coalesce(name, 'an expression')), \"desc\", upper(coll)
             from pragma_index_xinfo(?1) where key order by seqno",
        )?
        .query_map([index], |row| {
            let (mut column, collation): (String, String) = (row.get(0)?, row.get(2)?);
            if row.get(1)? {
                column.push_str(" descending");
            }
            if collation != "BINARY" {
                column.push_str(" collate ");
                column.push_str(&collation);
            }
            Ok(column)
        })?
        .collect()
}

/// What stands after `where`, without regard to case and white space.
fn condition(sql: &str) -> Option<String> {
    let words: Vec<String> = sql
        .split_ascii_whitespace()
        .map(str::to_ascii_lowercase)
        .collect();
    let at = words.iter().position(|word| word == "where")?;
    Some(words[at + 1..].join(" "))
}
