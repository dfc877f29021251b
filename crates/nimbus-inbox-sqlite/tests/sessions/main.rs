//! The session store beside its suite: tables that are missing or damaged, a file that is closed.

mod support;
mod tables;
