//! The tables.

use nimbus_sqlite::Schema;

pub(super) const DDL: &str = include_str!("v1.sql");

pub(super) fn schema() -> Schema {
    Schema::new("resolver")
        .with_table("nimbus_resolver_event")
        .with_table("nimbus_resolver_report")
        .with_step(DDL)
}
