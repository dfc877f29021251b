use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;

use super::{Interruption, Interrupts, Received, Services};
use crate::handler::{ContextParts, FailureClass, HandlerContext, HandlerError, Handoff};

/// How one run of a handler ended, its failure classified (SUB-21).
#[derive(Debug)]
pub(super) enum Attempt {
    Succeeded,
    HandedOff(Handoff),
    /// Worth a retry.
    Failed {
        error_type: String,
        text: String,
    },
    /// Neither succeeded nor worth a retry.
    SetAside(SetAside),
}

/// The endings that neither block a session nor record anything.
#[derive(Debug)]
pub(super) enum SetAside {
    Discarded {
        error_type: String,
        text: String,
        classifier: &'static str,
    },
    DeadLettered {
        reason: &'static str,
        description: String,
    },
    /// No handler takes the event's type.
    Unsupported,
}

impl Services {
    /// Runs the handler of a message's event.
    ///
    /// Cancellation and a failure of something outside end the processing of the message; anything
    /// else is an outcome to report.
    pub(super) async fn attempt(
        &self,
        message: &Received,
        interrupts: &Interrupts,
    ) -> Result<Attempt, Interruption> {
        let event_type = message.event_type();
        let Some(handler) = self.handlers.get(event_type) else {
            return Ok(Attempt::SetAside(SetAside::Unsupported));
        };
        let context = HandlerContext::new(ContextParts {
            endpoint: self.endpoint.clone(),
            headers: message.headers.clone(),
            source_id: message.source_id().map(ToOwned::to_owned),
            delivery_count: message.delivery_count,
            enqueued_at: message.enqueued_at,
            stopping: interrupts.stopping.clone(),
            outbound: self.outbound.clone(),
        });
        let event = message.event().cloned().unwrap_or_default();
        // Reading the event and making the handler's future are the application's code as well.
        let begun = catch_unwind(AssertUnwindSafe(|| handler(&event, context.clone())));
        let ended = match begun {
            Err(panic) => Err(panic),
            Ok(Err(unreadable)) => {
                return Ok(Attempt::SetAside(SetAside::DeadLettered {
                    reason: "UnreadableEvent",
                    description: unreadable.to_string(),
                }));
            }
            // The handler is polled first: one that has returned has done its work and is recorded,
            // however late (INB-14).
            Ok(Ok(call)) => tokio::select! {
                biased;
                ended = AssertUnwindSafe(call).catch_unwind() => ended,
                () = interrupts.abort.cancelled() => return Err(Interruption::Cancelled),
            },
        };
        let error = match ended {
            Ok(Ok(())) => {
                return Ok(context
                    .handoff()
                    .map_or(Attempt::Succeeded, Attempt::HandedOff));
            }
            Ok(Err(error)) => error,
            Err(panic) => HandlerError::new(panic_text(panic.as_ref())).with_type("panic"),
        };
        self.judge(event_type, &error, interrupts)
    }

    fn judge(
        &self,
        event_type: &str,
        error: &HandlerError,
        interrupts: &Interrupts,
    ) -> Result<Attempt, Interruption> {
        if interrupts.stopping.is_cancelled() {
            // A handler that gives up because it was asked to is cancelled, not failed (INB-14).
            return Err(Interruption::Cancelled);
        }
        let (class, classifier) = self.classifiers.classify(event_type, error);
        let (error_type, text) = (error.error_type().to_owned(), error.text().to_owned());
        match class {
            FailureClass::Retry => {
                self.tally.failed();
                Ok(Attempt::Failed { error_type, text })
            }
            FailureClass::Discard => Ok(Attempt::SetAside(SetAside::Discarded {
                error_type,
                text,
                classifier,
            })),
            FailureClass::DeadLetter => Ok(Attempt::SetAside(SetAside::DeadLettered {
                reason: "HandlerFailed",
                description: format!("{error_type}: {text}"),
            })),
            FailureClass::Transient => {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    event_type,
                    error = %error,
                    "a handler reports an outage; the message is left for redelivery"
                );
                Err(Interruption::Transient)
            }
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "the handler panicked without a text".to_owned())
}
