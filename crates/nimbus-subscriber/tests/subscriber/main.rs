//! The subscriber over the in-memory broker, on paused time.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

mod support;

mod bad_observers;
mod blocking;
mod broker_outages;
mod circuit_breaker;
mod cloud_events;
mod continuations;
mod drains;
mod duplicates;
mod failures;
mod handoffs;
mod hostile_messages;
mod identities;
mod long_runs;
mod manager;
mod middleware;
mod observers;
mod parking;
mod process_in;
mod process_in_outages;
mod process_in_outcomes;
mod process_in_stand_ins;
mod processing_order;
mod provided_layers;
mod receivers;
mod resubmissions;
mod retry_requests;
mod set_up;
mod shutdown;
mod skips;
#[cfg(feature = "opentelemetry")]
mod spans;
mod store_outages;
mod trace_context;
mod unsettled_continuations;
