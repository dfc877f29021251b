//! Where the inbox meets a provider: every store call goes through here.
//!
//! It bounds, measures and traces the call, turns a panic into a failure, and logs the provider's
//! own error once, with secrets removed. What it hands on is a fixed text without a source, so
//! that nothing a provider said reaches settlement, the resolver or a dead-letter reason (INB-11).

mod call;
mod redact;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::{Instrument, Span, info_span};

pub(crate) use call::panicked;
pub(crate) use redact::redact;

use crate::telemetry::{self, Instruments, SYSTEM};
use crate::{
    Cutoff, EndpointId, Error, ErrorKind, InboxKey, InboxStore, Operation, PurgeLimit, Recorded,
    Timestamp,
};

/// Calls name `S`: through the `Arc`, which is a store itself, each would be boxed twice.
#[derive(Debug)]
pub(crate) struct Boundary<S: InboxStore + ?Sized> {
    store: Arc<S>,
    timeout: Duration,
    instruments: Arc<Instruments>,
}

impl<S: InboxStore + ?Sized> Clone for Boundary<S> {
    fn clone(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            timeout: self.timeout,
            instruments: Arc::clone(&self.instruments),
        }
    }
}

impl<S: InboxStore> Boundary<S> {
    pub(crate) fn erase(self) -> Boundary<dyn InboxStore> {
        Boundary {
            store: self.store,
            timeout: self.timeout,
            instruments: self.instruments,
        }
    }
}

impl<S: InboxStore + ?Sized> Boundary<S> {
    pub(crate) fn new(store: Arc<S>, timeout: Duration, instruments: Arc<Instruments>) -> Self {
        Self {
            store,
            timeout,
            instruments,
        }
    }

    pub(crate) fn store(&self) -> &Arc<S> {
        &self.store
    }

    pub(crate) fn instruments(&self) -> &Instruments {
        &self.instruments
    }

    /// The creation time of each key, in one store call.
    pub(crate) async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        let span = message_span(Operation::Check, keys);
        let call = async { counted(S::check(&self.store, keys).await?, keys, Operation::Check) };
        self.call(Operation::Check, self.timeout, call)
            .instrument(span)
            .await
            .map_err(|error| neutral(Operation::Check, &error))
    }

    /// Records the keys. An unknown outcome is tried once more within the same bound, which is
    /// right because recording is idempotent (INB-26).
    pub(crate) async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        let span = message_span(Operation::Record, keys);
        async {
            let started = Instant::now();
            let first = self.record_within(self.timeout, keys).await;
            let left = self.timeout.saturating_sub(started.elapsed());
            match first {
                Err(error) if error.kind() == ErrorKind::OutcomeUnknown && !left.is_zero() => {
                    self.record_within(left, keys).await
                }
                answered => answered,
            }
        }
        .instrument(span)
        .await
        .map_err(|error| neutral(Operation::Record, &error))
    }

    async fn record_within(
        &self,
        within: Duration,
        keys: &[InboxKey],
    ) -> Result<Vec<Recorded>, Error> {
        let call = async { counted(S::record(&self.store, keys).await?, keys, Operation::Record) };
        self.call(Operation::Record, within, call).await
    }

    /// Removes one batch of expired records.
    pub(crate) async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        let span = info_span!(
            telemetry::SPAN_PURGE,
            otel.kind = "client",
            { telemetry::MESSAGING_SYSTEM } = SYSTEM,
            { telemetry::MESSAGING_OPERATION_NAME } = Operation::Purge.as_str(),
            { telemetry::MESSAGING_CONSUMER_GROUP } = endpoint.as_str(),
        );
        let call = async { S::purge(&self.store, endpoint, cutoff, limit).await };
        self.call(Operation::Purge, self.timeout, call)
            .instrument(span)
            .await
            .map_err(|error| neutral(Operation::Purge, &error))
    }

    /// Verifies the store. Startup fails with the provider's reason, so its text is kept, without
    /// secrets (INB-32).
    pub(crate) async fn verify(&self) -> Result<(), Error> {
        let call = async { S::verify(&self.store).await };
        self.call(Operation::Verify, self.timeout, call)
            .await
            .map_err(|error| self.explained(&error))
    }

    fn explained(&self, error: &Error) -> Error {
        let kept = Error::new(error.kind(), Operation::Verify, call::cause_of(error))
            .with_provider(self.store.provider());
        with_delay_of(error, kept)
    }

    /// One step of the transaction around a handler.
    pub(crate) async fn transaction_step<T>(
        &self,
        step: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Error> {
        self.call(Operation::Transaction, self.timeout, step)
            .await
            .map_err(|error| neutral(Operation::Transaction, &error))
    }

    /// The claim of a message, in the transaction of its handler.
    pub(crate) async fn claim(
        &self,
        keys: &[InboxKey],
        claim: impl Future<Output = Result<Vec<Recorded>, Error>> + Send,
    ) -> Result<Vec<Recorded>, Error> {
        let claim = async { counted(claim.await?, keys, Operation::Record) };
        self.call(Operation::Record, self.timeout, claim)
            .instrument(message_span(Operation::Record, keys))
            .await
            .map_err(|error| neutral(Operation::Record, &error))
    }
}

/// What leaves the boundary: nothing of the provider's text, and on the path of a message always
/// transient, since no failure of the store is a fault of the message (INB-11).
fn neutral(operation: Operation, error: &Error) -> Error {
    let text = match operation {
        Operation::Check => {
            "the inbox store could not tell whether the message was handled before; \
             the message is left for redelivery"
        }
        Operation::Record => {
            "the inbox store did not confirm the record of the message; \
             the message is left for redelivery"
        }
        Operation::Purge => {
            "the inbox store could not remove expired records; the next pass tries again"
        }
        _ => {
            "the inbox store could not carry out the transaction around the handler; \
             the message is left for redelivery"
        }
    };
    let kind = match operation {
        Operation::Purge => error.kind(),
        _ => ErrorKind::Transient,
    };
    with_delay_of(error, Error::new(kind, operation, text))
}

fn with_delay_of(cause: &Error, error: Error) -> Error {
    match cause.retry_after() {
        Some(delay) => error.with_retry_after(delay),
        None => error,
    }
}

/// A provider that answers with another number of answers is broken; a missing one must not pass
/// for "not processed".
fn counted<T>(answers: Vec<T>, keys: &[InboxKey], operation: Operation) -> Result<Vec<T>, Error> {
    if answers.len() == keys.len() {
        return Ok(answers);
    }
    Err(Error::transient(
        operation,
        format!(
            "the provider gave {} answers for {} keys; its store can't be trusted until it is \
             corrected",
            answers.len(),
            keys.len()
        ),
    ))
}

fn message_span(operation: Operation, keys: &[InboxKey]) -> Span {
    let first = keys.first();
    // A span's name is part of its call site, so each operation has its own.
    macro_rules! span {
        ($name:expr) => {
            info_span!(
                $name,
                otel.kind = "client",
                { telemetry::MESSAGING_SYSTEM } = SYSTEM,
                { telemetry::MESSAGING_OPERATION_NAME } = operation.as_str(),
                { telemetry::MESSAGING_CONSUMER_GROUP } = first.map(|key| key.endpoint().as_str()),
                { telemetry::MESSAGING_MESSAGE_ID } = first.map(|key| key.message_id().as_str()),
                { telemetry::MESSAGING_BATCH_COUNT } = keys.len(),
            )
        };
    }
    match operation {
        Operation::Check => span!(telemetry::SPAN_CHECK),
        _ => span!(telemetry::SPAN_RECORD),
    }
}
