//! The SQLite layer against real files.

mod child;
mod support;

mod files;
mod full_disk;
mod group_commit;
mod io_error;
mod lifecycle;
mod processes;
mod reads;
mod schema;
mod transactions;
mod write_lock;
