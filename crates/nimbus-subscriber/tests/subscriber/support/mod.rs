//! One endpoint on the in-memory broker, on paused time.

mod crashes;
mod deferred;
mod hooks;
mod layers;
mod logs;
mod process;
mod script;
mod strike;
mod told;
mod tools;
#[cfg(feature = "opentelemetry")]
mod traces;
mod world;

pub(crate) use crashes::crash_anywhere;
pub(crate) use deferred::{continuation, defer, deferred, request};
pub(crate) use hooks::{Calls, Disturb, Journal, Sluggish};
pub(crate) use layers::{Middleware, around};
pub(crate) use logs::Logs;
pub(crate) use process::{Process, Running};
pub(crate) use script::{OrderPlaced, Script};
pub(crate) use strike::Strike;
pub(crate) use told::Told;
pub(crate) use tools::{Tools, claiming};
#[cfg(feature = "opentelemetry")]
pub(crate) use traces::{Traces, attribute, sent_from};
pub(crate) use world::{ENDPOINT, EVENT_TYPE, World, session};
