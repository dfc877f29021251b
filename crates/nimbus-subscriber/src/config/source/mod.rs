//! Where values come from: the file, then the variables of the environment, which win.

mod check;
mod environment;
mod file;
mod merge;

pub(super) use check::checked;
pub(super) use environment::Environment;
pub(super) use file::read;
pub(super) use merge::merged;

/// A table as the `config` crate keeps it.
pub(super) type Table = config::Map<String, config::Value>;
