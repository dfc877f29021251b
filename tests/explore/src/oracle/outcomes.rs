use std::sync::Arc;

use nimbus_inbox_testing::ProcessId;
use nimbus_messaging::{Envelope, Headers, MessageContent, MessageType};

use super::fate::Settled;
use super::{Known, Oracle, Window};
use crate::event::{Event, EventKind};
use crate::outcome::Outcome;

impl Oracle {
    /// The resolver was told something.
    pub(crate) fn told(&self, process: ProcessId, message: &Arc<Envelope>) {
        let mut known = self.known();
        let now = known.tick();
        let read = Headers::read(message)
            .ok()
            .zip(MessageContent::decode(&message.body).ok());
        let Some((headers, content)) = read else {
            known.violate(|| "the resolver was sent something that can't be read".to_owned());
            return;
        };
        let text = content.error_content.and_then(|error| error.error_text);
        if let Some(event) = Event::of_id(headers.event_id.as_ref()) {
            known.judge(
                process,
                event,
                &headers,
                text.as_deref().unwrap_or_default(),
            );
            known.keep(process, event, message, now);
        }
    }
}

impl Known {
    /// No outcome contradicts what happened.
    fn judge(&mut self, process: ProcessId, event: Event, headers: &Headers, text: &str) {
        let Some(delivery) = self.deliveries.current(process) else {
            return;
        };
        let (kind, played) = (delivery.kind, delivery.played);
        let (redelivered, stale) = (delivery.redelivered, delivery.stale);
        let on_record = delivery.on_record;
        let played = played
            .filter(|(of, _)| *of == event)
            .map(|(_, outcome)| outcome);
        let dead_lettered = headers.dead_letter_reason.is_some();
        let blocks = self.blocks(event);
        let own_kind = self.fates[event.index()].kind;
        let asks = played.is_none()
            && matches!(
                kind,
                MessageType::EventRequest | MessageType::ProcessDeferredRequest
            );
        let justified = match headers.message_type {
            MessageType::UnsupportedResponse => {
                self.settle(event, Settled::Unsupported);
                asks && own_kind == EventKind::Unsupported
            }
            MessageType::ResolutionResponse => match kind {
                MessageType::EventRequest if own_kind == EventKind::Heartbeat => {
                    self.settle(event, Settled::Answered);
                    played.is_none()
                }
                MessageType::HandoffCompletedRequest => {
                    self.windows.count(Window::LateAnswer);
                    true
                }
                MessageType::RetryRequest if played.is_none() => {
                    self.windows.count(Window::LateAnswer);
                    // What is on record is a duplicate, whatever blocks (INB-08).
                    !on_record && (stale || !blocks)
                }
                _ => played == Some(Outcome::Succeeds) && self.is_recorded(headers),
            },
            MessageType::SkipResponse if text == "DuplicateDetected" => self.is_recorded(headers),
            MessageType::SkipResponse if text.is_empty() => kind == MessageType::SkipRequest,
            MessageType::SkipResponse => played == Some(Outcome::Discards),
            MessageType::ErrorResponse if dead_lettered => played == Some(Outcome::DeadLetters),
            MessageType::ErrorResponse => {
                played == Some(Outcome::Fails)
                    || kind == MessageType::HandoffFailedRequest
                    || (redelivered && played.is_none())
            }
            MessageType::PendingHandoffResponse => played == Some(Outcome::HandsOff),
            // A heartbeat is answered whatever blocks (SUB-09).
            MessageType::DeferralResponse => played.is_none() && own_kind != EventKind::Heartbeat,
            _ => false,
        };
        if !justified {
            let told = headers.message_type;
            self.violate(|| {
                format!("the resolver is told {told} {text:?} of {event} for a {kind}, whose handler {played:?}")
            });
        }
        let ends = matches!(
            headers.message_type,
            MessageType::ResolutionResponse
                | MessageType::SkipResponse
                | MessageType::UnsupportedResponse
        );
        let fate = &mut self.fates[event.index()];
        fate.told_done |= ends || dead_lettered;
        let skipped = headers.message_type == MessageType::SkipResponse && text.is_empty();
        if skipped && fate.settled.is_none() {
            // Of an event that does not block the resolver is told what the operator said.
            fate.out_of_turn = true;
        }
    }

    /// Whether the message that an outcome is about is recorded, by its own id or its source's.
    fn is_recorded(&self, outcome: &Headers) -> bool {
        let own = outcome.parent_message_id.as_deref();
        let source = outcome.inbox_message_id.as_deref();
        !self.deduplicates()
            || [own, source]
                .into_iter()
                .flatten()
                .any(|id| self.records.contains_key(id))
    }

    /// Every event that was handled is known to be done.
    pub(crate) fn check_told(&mut self) {
        let untold = self
            .fates
            .iter()
            .position(|fate| fate.settled == Some(Settled::Handled) && !fate.told_done);
        if let Some(untold) = untold {
            let event = Event(u8::try_from(untold).unwrap_or(u8::MAX));
            self.violate(|| format!("{event} was handled, and the resolver was never told"));
        }
    }
}
