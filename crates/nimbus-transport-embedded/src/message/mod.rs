//! How a message lies in a table.

mod envelope;
mod limits;
mod properties;

pub(crate) use envelope::{
    COLUMNS, PLACEHOLDERS, StoredEnvelope, read_damaged_envelope, read_envelope,
};
pub(crate) use limits::Limits;
