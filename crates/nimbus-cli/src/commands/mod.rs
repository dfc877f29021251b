//! One file for each command.

pub(crate) mod completions;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod filter;
pub(crate) mod handoff;
pub(crate) mod inbox;
pub(crate) mod resolver;
pub(crate) mod resubmit;
pub(crate) mod sent;
pub(crate) mod sessions;
pub(crate) mod skip;
mod verdict;
