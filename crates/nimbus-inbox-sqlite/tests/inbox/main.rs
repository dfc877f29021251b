//! What SQLite promises beyond the contract that the conformance suite proves.

mod files;
mod full_disk;
mod group_commit;
mod ids;
mod io_error;
mod kill;
mod processes;
mod registry;
mod stats;
mod support;
mod tables;
mod transactional;
mod transactional_drops;
mod transactional_own;
