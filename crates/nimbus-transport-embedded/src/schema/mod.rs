//! The tables, one file of statements per version.

use nimbus_sqlite::Schema;

const V1: &str = include_str!("v1.sql");

const TABLES: [&str; 7] = [
    "nimbus_queue",
    "nimbus_queue_topic",
    "nimbus_queue_subscription",
    "nimbus_queue_lane",
    "nimbus_queue_message",
    "nimbus_queue_session",
    "nimbus_queue_parked",
];

/// The statements that create the tables of the embedded transport, in order.
///
/// They tolerate to run again. Their names start with `nimbus_queue`, so one file can hold other
/// tables too.
#[must_use]
pub fn ddl() -> String {
    schema().ddl()
}

pub(crate) fn schema() -> Schema {
    TABLES
        .into_iter()
        .fold(Schema::new("embedded transport"), Schema::with_table)
        .with_step(V1)
}
