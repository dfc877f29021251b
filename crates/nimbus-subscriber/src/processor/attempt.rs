use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use nimbus_messaging::EventContent;

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
    /// Runs the handler of a message's event, in its middleware (SUB-23).
    ///
    /// Cancellation and a failure of something outside end the processing of the message; anything
    /// else is an outcome to report.
    pub(super) async fn attempt(
        &self,
        message: &Received,
        interrupts: &Interrupts,
    ) -> Result<Attempt, Interruption> {
        let event_type = message.event_type();
        if !self.pipeline.handles(event_type) {
            return Ok(Attempt::SetAside(SetAside::Unsupported));
        }
        let context = HandlerContext::new(ContextParts {
            endpoint: self.endpoint.clone(),
            headers: message.headers.clone(),
            source_id: message.source_id().map(ToOwned::to_owned),
            delivery_count: message.delivery_count,
            enqueued_at: message.enqueued_at,
            stopping: interrupts.stopping.clone(),
            outbound: self.outbound.clone(),
        });
        let nothing = EventContent::default();
        let event = message.event().unwrap_or(&nothing);
        let run = AssertUnwindSafe(self.pipeline.run(event, &context)).catch_unwind();
        // The run is polled first: what has returned has done its work and is recorded, however
        // late (INB-14).
        let ended = tokio::select! {
            biased;
            ended = run => ended,
            () = interrupts.abort.cancelled() => return Err(Interruption::Cancelled),
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
        self.judge(message, &error, interrupts).await
    }

    async fn judge(
        &self,
        message: &Received,
        error: &HandlerError,
        interrupts: &Interrupts,
    ) -> Result<Attempt, Interruption> {
        let event_type = message.event_type();
        if let Some(reason) = error.rejection() {
            // No handler has seen the event, so none gave up on it.
            self.tell_failed(message, FailureClass::DeadLetter, error)
                .await;
            return Ok(Attempt::SetAside(SetAside::DeadLettered {
                reason,
                description: error.text().to_owned(),
            }));
        }
        if interrupts.stopping.is_cancelled() {
            // A handler that gives up because it was asked to is cancelled, not failed (INB-14).
            return Err(Interruption::Cancelled);
        }
        let (class, classifier) = self.classifiers.classify(event_type, error);
        self.tell_failed(message, class, error).await;
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
