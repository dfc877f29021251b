//! Configuration from a file and the environment (SUB-32).

mod environment;
mod files;
mod hostile;
mod opening;
mod secrets;
mod support;
