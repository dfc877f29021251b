use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use futures_util::FutureExt;
use nimbus_messaging::{
    Address, Delivery, MessageType, Receipt, SessionState, TransportError, TransportErrorKind,
};
use tracing::Instrument;

use super::event_request::Gate;
use super::only_from::only_from;
use super::settle::{AfterSettling, settle};
use super::{Interruption, Interrupts, Received, Services};
use crate::session::{DeferredMessages, HeldSession};

impl Services {
    /// ContinuationRequest: handles the next message of the older, broker-native deferral
    /// (SUB-17).
    ///
    /// The reference stays in the session's state until its message is settled, so that a crash
    /// anywhere leaves it to the redelivered continuation.
    pub(super) async fn continuation_request(
        &self,
        message: &Received,
        session: Option<&mut HeldSession>,
        deferred: &DeferredMessages,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        let takers = [Address::CONTINUATION, Address::MANAGER];
        only_from(message, "NotFromContinuation", &takers)?;
        let Some(session) = session else {
            return Err(Interruption::Rejected {
                reason: "NoSession",
                description: "a ContinuationRequest names no session to continue".to_owned(),
            });
        };
        let Some(number) = take_next(session).await? else {
            // Blocked, or nothing is left but what is parked.
            return self.request_drain(session).await;
        };
        match deferred.fetch(session.id(), number).await {
            Ok(Some(delivery)) => {
                self.continue_with(message, session, number, delivery, interrupts)
                    .await
            }
            Ok(None) => {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    session = %session.id(),
                    sequence_number = number,
                    "a deferred message is not at the broker any more: it was settled before a \
                     crash, or it expired; going on with the next"
                );
                self.go_on(session).await
            }
            Err(error) => {
                self.put_back(session, number).await;
                Err(self.not_fetched(session, number, &error))
            }
        }
    }

    /// Dispatches a fetched message if it is the one to dispatch, and settles it.
    async fn continue_with(
        &self,
        continuation: &Received,
        session: &mut HeldSession,
        number: i64,
        delivery: Delivery,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        let Delivery {
            envelope,
            delivery_count,
            enqueued_at,
            receipt,
            sequence_number: _,
        } = delivery;
        self.tally.received();
        let (mut message, read) = self.read(envelope, delivery_count, enqueued_at);
        self.tell_received(&message).await;

        let state = session.state().await?;
        // After a crash between block and settlement the blocking message itself is resumed.
        let waits = state.is_blocked() && !self.owns_the_block(&message, state);
        let expected = continuation.headers.event_id.as_ref();
        let unexpected = expected.is_some() && expected != message.headers.event_id.as_ref();
        if waits || unexpected {
            if unexpected {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    session = %session.id(),
                    sequence_number = number,
                    expected = expected.map(|id| id.as_str()),
                    "a continuation names another event than the next deferred one, which keeps \
                     its turn; another continuation is requested"
                );
            }
            self.put_back(session, number).await;
            give_back(receipt).await?;
            return self.request_drain(session).await;
        }

        let span = self.spans.process(&self.endpoint, &message.headers);
        let dispatched = self
            .dispatch_deferred(&mut message, read, session, interrupts)
            .instrument(span.clone());
        let ended = match AssertUnwindSafe(dispatched).catch_unwind().await {
            Ok(ended) => ended,
            Err(panic) => {
                self.put_back(session, number).await;
                resume_unwind(panic)
            }
        };
        let interrupted = match &ended {
            Ok(()) => None,
            Err(Interruption::Rejected { .. }) => {
                message.keep_event();
                None
            }
            Err(interruption) => Some(interruption.clone()),
        };
        if let Err(interruption) = &ended {
            span.in_scope(|| interruption.mark_span());
        }
        let settled = settle(self, &message, receipt, ended)
            .instrument(span)
            .await;
        let unsettled = match (interrupted, settled) {
            (None, AfterSettling::Keep) => None,
            (None, AfterSettling::Release) => Some(Interruption::LockLost),
            (None | Some(Interruption::Transient), AfterSettling::Pause | AfterSettling::Wait) => {
                Some(Interruption::Unconfirmed)
            }
            (interrupted, _) => interrupted,
        };
        match unsettled {
            None => self.go_on(session).await,
            Some(interruption) => {
                if interruption != Interruption::Cancelled || holds!(RestoreOutlivesCaller) {
                    self.put_back(session, number).await;
                }
                Err(interruption)
            }
        }
    }

    async fn dispatch_deferred(
        &self,
        message: &mut Received,
        read: Result<(), Interruption>,
        session: &mut HeldSession,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        read?;
        match message.headers.message_type {
            MessageType::EventRequest | MessageType::UnsupportedResponse => {
                self.handle_event(message, Some(session), interrupts, Gate::Passes)
                    .await
            }
            other => Err(Interruption::Rejected {
                reason: "UnexpectedMessageType",
                description: format!("only events are deferred, and this is of type {other}"),
            }),
        }
    }

    /// The message is settled: forgets its reference and asks for what follows (SUB-16).
    async fn go_on(&self, session: &mut HeldSession) -> Result<(), Interruption> {
        session.write(SessionState::settle_in_flight).await?;
        self.request_drain(session).await
    }

    /// Gives a reference its turn back. It has the bound of any call to the store and listens to
    /// no cancellation. Where it fails the reference is still in flight, and resumed from there;
    /// why the dispatch ended counts, and not this.
    async fn put_back(&self, session: &mut HeldSession, number: i64) {
        let restored = session.write(SessionState::restore_in_flight).await;
        if let Err(interruption) = restored {
            tracing::error!(
                endpoint = %self.endpoint,
                session = %session.id(),
                sequence_number = number,
                ?interruption,
                "a deferred message could not be put back to the front of its session; the \
                 redelivered continuation resumes it"
            );
        }
    }

    fn not_fetched(
        &self,
        session: &HeldSession,
        number: i64,
        error: &TransportError,
    ) -> Interruption {
        if error.kind() == TransportErrorKind::Unsupported {
            return Interruption::Rejected {
                reason: "DeferralUnsupported",
                description: format!(
                    "the session's state refers to the deferred message {number}, and this \
                     transport has no deferral; drain the session where the message was deferred, \
                     or remove the reference"
                ),
            };
        }
        tracing::warn!(
            endpoint = %self.endpoint,
            session = %session.id(),
            sequence_number = number,
            error = error as &dyn std::error::Error,
            "fetching a deferred message failed; the continuation is left for redelivery"
        );
        unconfirmed(error)
    }
}

/// Moves the next reference to the one in flight, and returns it. One that a crash left in flight
/// is resumed first; a blocked session pops nothing.
async fn take_next(session: &mut HeldSession) -> Result<Option<i64>, Interruption> {
    let state = session.state().await?;
    if state.in_flight_sequence_number.is_some() || state.is_blocked() {
        return Ok(state.in_flight_sequence_number);
    }
    if state.deferred_sequence_numbers.is_empty() {
        return Ok(None);
    }
    session.write(SessionState::take_deferred).await?;
    Ok(session.state().await?.in_flight_sequence_number)
}

/// Leaves a fetched message deferred. Without the broker's word the lane is of no more use: it
/// would find the message in flight.
async fn give_back(receipt: Receipt) -> Result<(), Interruption> {
    let given = receipt.abandon(Duration::ZERO).await;
    given.map_err(|error| unconfirmed(&error))
}

/// The lane may hold the message without knowing it.
fn unconfirmed(error: &TransportError) -> Interruption {
    match Interruption::from_transport(error) {
        Interruption::Transient => Interruption::Unconfirmed,
        interruption => interruption,
    }
}
