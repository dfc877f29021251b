use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::events::Event;

/// Events of one order, which is one session. One of them needs somebody outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) session: String,
    /// Ids of the events, which are their message ids too, in the order of sending.
    pub(crate) events: Vec<String>,
    /// Index of the one that needs somebody.
    pub(crate) trouble: usize,
}

impl Order {
    /// The event that needs somebody.
    pub(crate) fn troubled(&self) -> &str {
        &self.events[self.trouble]
    }

    /// How many wait behind it.
    pub(crate) fn waiting(&self) -> usize {
        self.events.len() - self.trouble - 1
    }
}

/// A part of the story of an order: transition, event type and content.
pub(super) type Step = (&'static str, &'static str, Value);

/// The first is handled; the second's customer is not in the tax register.
pub(super) fn unregistered() -> Vec<Step> {
    vec![
        ("placed:1", "OrderPlaced", placed(12_900)),
        ("payment-captured:1", "PaymentCaptured", amount(12_900)),
        (
            "shipped:1",
            "OrderShipped",
            json!({ "shipmentId": "shp-1" }),
        ),
        (
            "delivered:1",
            "OrderDelivered",
            json!({ "shipmentId": "shp-1" }),
        ),
    ]
}

/// The first two are handled; the third is paid back by the bank.
pub(super) fn paid_back() -> Vec<Step> {
    vec![
        ("placed:1", "OrderPlaced", placed(480_000)),
        (
            "cancelled:1",
            "OrderCancelled",
            json!({ "reason": "out of stock" }),
        ),
        ("refund-issued:1", "RefundIssued", amount(450_000)),
        ("refund-issued:2", "RefundIssued", amount(30_000)),
    ]
}

fn placed(total: u64) -> Value {
    json!({ "currency": "EUR", "totalMinor": total })
}

fn amount(amount: u64) -> Value {
    json!({ "currency": "EUR", "amountMinor": amount })
}

/// The events of an order, ready to be published.
pub(super) fn events(session: &str, steps: &[Step]) -> serde_json::Result<Vec<Event>> {
    let events = steps.iter().map(|(transition, event_type, data)| {
        Ok(Event {
            line: 0,
            message_id: format!("{session}:{transition}"),
            session: Some(session.to_owned()),
            event_type: (*event_type).to_owned(),
            data: RawValue::from_string(data.to_string())?,
            cloud: None,
        })
    });
    events.collect()
}
