//! Crash-point exploration of the subscriber: the real code over in-memory parts, through every
//! schedule of a small world.

mod action;
mod catalogue;
mod closing;
mod command;
mod deferral;
mod effect;
mod event;
mod fingerprint;
mod gate;
mod limits;
mod oracle;
mod outcome;
mod parts;
mod process;
mod run;
mod scenario;
mod schedule;
mod search;
mod world;

pub use catalogue::{catalogue, scenario};
pub use event::EventKind;
pub use limits::{Disturbance, Limits};
pub use oracle::{Window, Windows};
pub use scenario::{InboxKind, Operator, Scenario};
pub use schedule::Schedule;
pub use search::{Bounds, Counterexample, Findings, explore, replay, wander};
