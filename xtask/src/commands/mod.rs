//! One file per command.

pub(crate) mod bench;
pub(crate) mod ci;
pub(crate) mod ddl;
pub(crate) mod demo;
pub(crate) mod explore;
pub(crate) mod provision;
pub(crate) mod requirements;
pub(crate) mod test;

mod forward;
