use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Error, Operation};

use super::{Point, StoreCall};

/// The result of a rule: what happens to a call that meets its condition.
#[derive(Debug, Clone)]
#[must_use]
pub struct Fault {
    point: Point,
    action: Action,
}

#[derive(Clone)]
enum Action {
    Fail(Arc<dyn Fn(Operation) -> Error + Send + Sync>),
    Delay(Duration),
    Hang,
    Panic,
}

impl Fault {
    /// The call fails with this error, made for the operation that was called.
    pub fn fail(error: impl Fn(Operation) -> Error + Send + Sync + 'static) -> Self {
        Self::before(Action::Fail(Arc::new(error)))
    }

    /// The call fails with a transient error.
    pub fn transient() -> Self {
        Self::fail(|operation| Error::transient(operation, "injected transient fault"))
    }

    /// The call takes effect, and its caller is told that the outcome is unknown.
    pub fn answer_lost() -> Self {
        Self::fail(|operation| Error::outcome_unknown(operation, "injected loss of the answer"))
            .after_effect()
    }

    /// The call waits on tokio's clock, then goes on.
    pub fn delay(duration: Duration) -> Self {
        Self::before(Action::Delay(duration))
    }

    /// The call never returns.
    pub fn hang() -> Self {
        Self::before(Action::Hang)
    }

    /// The call panics.
    pub fn panic() -> Self {
        Self::before(Action::Panic)
    }

    /// Lets the call take effect first. A call that fails by itself keeps its own error.
    pub fn after_effect(mut self) -> Self {
        self.point = Point::AfterEffect;
        self
    }

    fn before(action: Action) -> Self {
        Self {
            point: Point::BeforeEffect,
            action,
        }
    }

    pub(super) fn point(&self) -> Point {
        self.point
    }

    pub(super) async fn strike(&self, call: StoreCall<'_>) -> Result<(), Error> {
        match &self.action {
            Action::Fail(error) => Err(error(call.operation())),
            Action::Delay(duration) => {
                tokio::time::sleep(*duration).await;
                Ok(())
            }
            Action::Hang => std::future::pending().await,
            Action::Panic => panic!("injected panic of the {} call", call.operation()),
        }
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail(_) => f.write_str("Fail"),
            Self::Delay(duration) => write!(f, "Delay({duration:?})"),
            Self::Hang => f.write_str("Hang"),
            Self::Panic => f.write_str("Panic"),
        }
    }
}
