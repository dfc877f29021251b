//! Configuration from a file and the environment (SUB-32).
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

mod environment;
mod files;
mod hostile;
mod opening;
mod secrets;
mod support;
