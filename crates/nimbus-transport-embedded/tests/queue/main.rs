//! The embedded queue against real files.

mod support;

mod deferral;
mod delivery_limit;
mod directory;
mod files;
mod full_disk;
mod inspector;
mod limits;
mod locks;
mod order;
mod processes;
mod scheduled;
mod sessions;
mod topics;
mod waiting;
