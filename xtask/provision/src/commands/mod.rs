//! One file per command.

pub(crate) mod ddl;
pub(crate) mod provision;
