use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use nimbus_messaging::EventContent;

use super::claimed::Ended;
use super::duplicate::Identity;
use super::success::Record;
use super::{Interruption, Interrupts, Received, Services};
use crate::handler::{ContextParts, FailureClass, HandlerContext, HandlerError, Handoff};
use crate::running::Run;
use crate::telemetry;

/// How one run of a handler ended, its failure classified (SUB-21).
#[derive(Debug)]
pub(super) enum Attempt {
    Succeeded(Record),
    HandedOff(Handoff),
    /// The work was done before: the handler's own transaction found the record (SUB-39).
    Duplicate,
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
        identity: &Identity,
        interrupts: &Interrupts,
    ) -> Result<Attempt, Interruption> {
        if !self.pipeline.handles(message.event_type()) {
            return Ok(Attempt::SetAside(SetAside::Unsupported));
        }
        if interrupts.abort.is_cancelled() {
            // Also the part before its first await must not run beside another receiver's.
            return Err(Interruption::Cancelled);
        }
        let Some(mut run) = self.intake.begin_run() else {
            tracing::info!(
                endpoint = %self.endpoint,
                message_id = message.headers.message_id.as_deref(),
                "the circuit breaker is open; the message is left for redelivery"
            );
            return Err(Interruption::Transient);
        };
        // Other lanes receive nothing meanwhile, whichever this one is.
        let _trial = run.is_probe().then(|| self.intake.join_trial());
        loop {
            let is_probe = run.is_probe();
            match self.run(message, identity, run, interrupts).await {
                // Given back after each probe, the same message would come time and again, until
                // its deliveries are used up. So it is kept for the next.
                Err(Interruption::Transient) if is_probe => {}
                ended => return ended,
            }
            run = tokio::select! {
                biased;
                () = interrupts.stopping.cancelled() => return Err(Interruption::Cancelled),
                () = interrupts.abort.cancelled() => return Err(Interruption::Cancelled),
                next = self.intake.begin_next_run() => next,
            };
        }
    }

    /// Runs the handler once.
    async fn run(
        &self,
        message: &Received,
        identity: &Identity,
        run: Run<'_>,
        interrupts: &Interrupts,
    ) -> Result<Attempt, Interruption> {
        let context = HandlerContext::new(ContextParts {
            endpoint: self.endpoint.clone(),
            headers: message.headers.clone(),
            source_id: message.source_id().map(ToOwned::to_owned),
            delivery_count: message.delivery_count,
            enqueued_at: message.enqueued_at,
            stopping: interrupts.stopping.clone(),
            outbound: self.outbound.clone(),
            claiming: identity.claiming(self.inbox.is_some()),
        });
        let nothing = EventContent::default();
        let event = message.event().unwrap_or(&nothing);
        let handling = AssertUnwindSafe(self.pipeline.run(event, &context)).catch_unwind();
        // The handler is polled first: what has returned has done its work and is recorded, however
        // late (INB-14).
        let ended = tokio::select! {
            biased;
            ended = handling => Ended::Returned(
                ended.unwrap_or_else(|panic| Err(panicked(panic.as_ref()))),
            ),
            () = interrupts.abort.cancelled() => Ended::Dropped,
        };
        if let Some(decided) = self.decided(message, &context, &ended)? {
            if !matches!(decided, Attempt::Duplicate) {
                run.succeeded();
            }
            return Ok(decided);
        }
        match ended {
            Ended::Returned(Ok(())) => {
                run.succeeded();
                Ok(context
                    .handoff()
                    .map_or(Attempt::Succeeded(Record::Due), Attempt::HandedOff))
            }
            Ended::Returned(Err(error)) => self.judge(message, &error, run, interrupts).await,
            Ended::Dropped => Err(Interruption::Cancelled),
        }
    }

    async fn judge(
        &self,
        message: &Received,
        error: &HandlerError,
        run: Run<'_>,
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
        let is_probe = run.is_probe();
        if matches!(class, FailureClass::Retry | FailureClass::Transient) {
            run.failed();
        }
        self.tell_failed(message, class, error).await;
        let (error_type, text) = (error.error_type().to_owned(), error.text().to_owned());
        match class {
            FailureClass::Retry => {
                telemetry::failed(&error_type);
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
                let next = if is_probe {
                    "the message is tried again when the circuit breaker lets it"
                } else {
                    "the message is left for redelivery"
                };
                tracing::warn!(
                    endpoint = %self.endpoint,
                    event_type,
                    error = %error,
                    "a handler reports an outage; {next}"
                );
                Err(Interruption::Transient)
            }
        }
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> HandlerError {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "the handler panicked without a text".to_owned());
    HandlerError::new(text).with_type("panic")
}
