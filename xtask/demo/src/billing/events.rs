use serde::Deserialize;

use super::{Bookable, Booking};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderPlaced {
    currency: String,
    total_minor: i64,
}

impl Bookable for OrderPlaced {
    const EVENT_TYPE: &'static str = "OrderPlaced";

    fn booking(self) -> Booking {
        money("receivable", self.currency, self.total_minor)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaymentCaptured {
    currency: String,
    amount_minor: i64,
}

impl Bookable for PaymentCaptured {
    const EVENT_TYPE: &'static str = "PaymentCaptured";

    fn booking(self) -> Booking {
        money("cash", self.currency, self.amount_minor)
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct PaymentFailed {}

impl Bookable for PaymentFailed {
    const EVENT_TYPE: &'static str = "PaymentFailed";

    fn booking(self) -> Booking {
        note("failed payments")
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct OrderShipped {}

impl Bookable for OrderShipped {
    const EVENT_TYPE: &'static str = "OrderShipped";

    fn booking(self) -> Booking {
        note("revenue due")
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct OrderDelivered {}

impl Bookable for OrderDelivered {
    const EVENT_TYPE: &'static str = "OrderDelivered";

    fn booking(self) -> Booking {
        note("revenue earned")
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct OrderCancelled {}

impl Bookable for OrderCancelled {
    const EVENT_TYPE: &'static str = "OrderCancelled";

    fn booking(self) -> Booking {
        note("cancellations")
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefundIssued {
    currency: String,
    amount_minor: i64,
}

impl Bookable for RefundIssued {
    const EVENT_TYPE: &'static str = "RefundIssued";

    fn booking(self) -> Booking {
        money("cash", self.currency, self.amount_minor.saturating_neg())
    }
}

fn money(account: &'static str, currency: String, amount_minor: i64) -> Booking {
    Booking {
        account,
        currency: Some(currency),
        amount_minor,
    }
}

/// No money moves.
fn note(account: &'static str) -> Booking {
    Booking {
        account,
        currency: None,
        amount_minor: 0,
    }
}
