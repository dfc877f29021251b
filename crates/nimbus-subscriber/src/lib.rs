#![doc = include_str!("../README.md")]

/// Whether a safeguard holds: always, outside the exploration's own builds.
macro_rules! holds {
    ($safeguard:ident) => {{
        #[cfg(feature = "safeguards")]
        let holds = $crate::safeguards::Safeguard::$safeguard.holds();
        #[cfg(not(feature = "safeguards"))]
        let holds = true;
        holds
    }};
}

mod builder;
mod circuit_breaker;
mod cloud_events;
#[cfg(feature = "config")]
mod config;
mod error;
mod handler;
mod lifecycle;
mod middleware;
mod processor;
mod responder;
mod retry;
mod running;
#[cfg(feature = "safeguards")]
mod safeguards;
mod session;
pub mod telemetry;

pub use builder::SubscriberBuilder;
pub use circuit_breaker::CircuitBreaker;
pub use cloud_events::{AttributeSource, CloudEventMapping, ContentMode, EventTypeRule};
#[cfg(feature = "config")]
pub use config::{Configuration, Providers, Setting};
pub use error::{SubscriberError, SubscriberErrorKind};
pub use handler::{
    EventHandler, FailureClass, HandlerContext, HandlerError, Handoff, PublishError,
};
pub use lifecycle::{
    BlockCause, DuplicateDetected, LifecycleObserver, MessageCompleted, MessageDeadLettered,
    MessageFailed, MessageReceived, ObserverError, SessionBlocked,
};
pub use middleware::{
    HandlerRequest, HandlerService, Logging, LoggingLayer, Timeout, TimeoutLayer, Validation,
    ValidationLayer,
};
pub use processor::FailureClassifier;
pub use retry::{Backoff, Jitter, RandomSource, RetryPolicy, RetryRule, SystemRandom};
pub use running::{Health, HealthStatus, RunReport, Subscriber};
#[cfg(feature = "safeguards")]
pub use safeguards::Safeguard;
