//! The tool as people run it: the real program beside a subscriber, on files of their own.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

mod commands;
mod events;
mod exit_codes;
mod explain;
#[cfg(feature = "postgres")]
mod postgres;
mod resolver;
mod sessions;
mod support;
