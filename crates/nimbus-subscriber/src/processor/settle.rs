use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use nimbus_messaging::{Delivery, Receipt, Settlement, TransportError, TransportErrorKind};
use tracing::Instrument;

use super::{Interruption, Interrupts, Received, Services};
use crate::responder::{Outcome, cut};
use crate::session::{DeferredMessages, HeldSession};

/// What a lane does after a delivery.
#[derive(Debug)]
pub(crate) enum Settled {
    /// The session is still held and its state known.
    Continue(Option<Box<HeldSession>>),
    /// The lane is of no more use: the next one starts afresh.
    ReleaseLane,
    /// As [`ReleaseLane`](Self::ReleaseLane), and the broker did not confirm the settlement: the
    /// message may come back at once.
    Unconfirmed,
    /// As [`ReleaseLane`](Self::ReleaseLane), and the inbox store does not answer.
    StoreUnavailable,
}

/// Processes one delivery to its settlement.
///
/// It must run in a task of its own that nothing aborts: once the handler has returned, the record,
/// the outcome and the settlement follow to the end (INB-14). Only the handler listens to
/// `interrupts`; every other call has a bound of its own.
pub(crate) async fn process_and_settle(
    services: Arc<Services>,
    delivery: Delivery,
    mut session: Option<HeldSession>,
    deferred: DeferredMessages,
    interrupts: Interrupts,
) -> Settled {
    let Delivery {
        envelope,
        delivery_count,
        enqueued_at,
        receipt,
        sequence_number: _,
    } = delivery;
    services.tally.received();
    let (mut message, read) = services.read(envelope, delivery_count, enqueued_at);
    let span = services.spans.process(&services.endpoint, &message.headers);
    async {
        services.tell_received(&message).await;
        let ended = match read {
            Ok(()) => {
                let abort = interrupts.abort.clone();
                // Pinned here, so that the branches share the one future.
                let dispatched =
                    pin!(services.dispatch(&mut message, session.as_mut(), &deferred, &interrupts));
                if holds!(TailOutlivesReceiver) {
                    dispatched.await
                } else {
                    let cut_off = abort.run_until_cancelled(dispatched).await;
                    cut_off.unwrap_or(Err(Interruption::Cancelled))
                }
            }
            Err(refused) => Err(refused),
        };
        if let Err(interruption) = &ended {
            interruption.mark_span();
        }
        if matches!(ended, Err(Interruption::Rejected { .. })) {
            message.keep_event();
        }
        match settle(&services, &message, receipt, ended).await {
            AfterSettling::Keep if session.as_ref().is_some_and(HeldSession::is_doubtful) => {
                Settled::ReleaseLane
            }
            AfterSettling::Keep => Settled::Continue(session.map(Box::new)),
            AfterSettling::Release => Settled::ReleaseLane,
            AfterSettling::Pause => Settled::Unconfirmed,
            AfterSettling::Wait => Settled::StoreUnavailable,
        }
    }
    .instrument(span)
    .await
}

/// What a settlement leaves of the lane.
pub(super) enum AfterSettling {
    Keep,
    Release,
    Pause,
    Wait,
}

impl AfterSettling {
    /// A lost lock has given the message to another receiver; anything else may repeat at once.
    fn unconfirmed(error: &TransportError) -> Self {
        match error.kind() {
            TransportErrorKind::LockLost => Self::Release,
            _ => Self::Pause,
        }
    }
}

/// Settles a delivery by how its processing ended.
pub(super) async fn settle(
    services: &Services,
    message: &Received,
    receipt: Receipt,
    ended: Result<(), Interruption>,
) -> AfterSettling {
    let settlement = match ended {
        Ok(()) => Settlement::Complete,
        Err(Interruption::Rejected {
            reason,
            description,
        }) => dead_lettering(services, message, reason, description).await,
        Err(Interruption::StoreUnavailable) => {
            abandon(services, message, receipt).await;
            return AfterSettling::Wait;
        }
        Err(Interruption::Transient | Interruption::Unconfirmed) => {
            return abandon(services, message, receipt).await;
        }
        // Dropping the receipt settles nothing: the message is delivered again.
        Err(Interruption::LockLost | Interruption::Cancelled) => {
            services.tally.left();
            return AfterSettling::Release;
        }
    };
    match receipt.settle(settlement).await {
        Ok(()) => AfterSettling::Keep,
        Err(error) => {
            // Not a failure of the handler: the redelivery is recognised (SUB-38).
            tracing::warn!(
                endpoint = %services.endpoint,
                message_id = message.headers.message_id.as_deref(),
                error = &error as &dyn std::error::Error,
                "the broker did not confirm the settlement; if the message comes back and its \
                 work was recorded, it is skipped"
            );
            AfterSettling::unconfirmed(&error)
        }
    }
}

/// Tells the resolver first, best effort (SUB-22).
async fn dead_lettering(
    services: &Services,
    message: &Received,
    reason: &'static str,
    description: String,
) -> Settlement {
    tracing::error!(
        endpoint = %services.endpoint,
        message_id = message.headers.message_id.as_deref(),
        reason,
        description,
        "dead-lettering a message; mend its cause, then resubmit it"
    );
    services.tally.dead_lettered();
    let settlement = Settlement::DeadLetter {
        reason: reason.to_owned(),
        description: cut(&description).to_owned(),
    };
    let outcome = Outcome::DeadLettered {
        reason: reason.to_owned(),
        description: description.clone(),
    };
    // A failure is logged where it happens, and must not keep the message from being set aside.
    let _ = services.responder.send(message.about(), outcome).await;
    services
        .tell_dead_lettered(message, reason, &description)
        .await;
    settlement
}

async fn abandon(services: &Services, message: &Received, receipt: Receipt) -> AfterSettling {
    services.tally.abandoned();
    let delay = redelivery_delay(message.delivery_count);
    match receipt.abandon(delay).await {
        Ok(()) => AfterSettling::Release,
        Err(error) => {
            tracing::warn!(
                endpoint = %services.endpoint,
                message_id = message.headers.message_id.as_deref(),
                error = &error as &dyn std::error::Error,
                "the broker did not confirm that a message was abandoned; it comes back when its \
                 lock ends"
            );
            AfterSettling::unconfirmed(&error)
        }
    }
}

/// From half a second, doubling to a minute: a broker that gives up after ten deliveries does so
/// after some three minutes of an outage.
pub(super) fn redelivery_delay(delivery_count: u32) -> Duration {
    let doublings = delivery_count.saturating_sub(1).min(7);
    Duration::from_millis(500 * 2_u64.pow(doublings)).min(Duration::from_secs(60))
}
