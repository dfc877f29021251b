//! What billing makes of each event: one entry in its ledger.

mod events;

use nimbus_messaging::EventContent;
use serde::de::DeserializeOwned;

pub(crate) use events::{
    OrderCancelled, OrderDelivered, OrderPlaced, OrderShipped, PaymentCaptured, PaymentFailed,
    RefundIssued,
};

use crate::events::Event;

/// What one event changes in the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Booking {
    pub(crate) account: &'static str,
    /// Absent where no money moves.
    pub(crate) currency: Option<String>,
    /// In the minor unit of the currency: cents for EUR, whole yen for JPY.
    pub(crate) amount_minor: i64,
}

/// An event that billing books.
pub(crate) trait Bookable: DeserializeOwned + Send + 'static {
    /// Its type, as messages name it.
    const EVENT_TYPE: &'static str;

    fn booking(self) -> Booking;
}

/// Whether a handler takes the event and can read it.
pub(crate) fn can_book(event: &Event) -> bool {
    match event.event_type.as_str() {
        OrderPlaced::EVENT_TYPE => reads::<OrderPlaced>(event),
        PaymentCaptured::EVENT_TYPE => reads::<PaymentCaptured>(event),
        PaymentFailed::EVENT_TYPE => reads::<PaymentFailed>(event),
        OrderShipped::EVENT_TYPE => reads::<OrderShipped>(event),
        OrderDelivered::EVENT_TYPE => reads::<OrderDelivered>(event),
        OrderCancelled::EVENT_TYPE => reads::<OrderCancelled>(event),
        RefundIssued::EVENT_TYPE => reads::<RefundIssued>(event),
        _ => false,
    }
}

/// Reads it as the subscriber will.
fn reads<T: Bookable>(event: &Event) -> bool {
    let content = EventContent {
        event_type_id: Some(event.event_type.clone()),
        event_json: Some(event.data.get().to_owned()),
    };
    content.event::<T>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events;

    #[test]
    fn every_event_that_comes_with_the_demo_can_be_booked() {
        let file = events::read(&events::own_file()).unwrap();
        assert_eq!(file.events.len(), 655);
        let unknown: Vec<_> = file
            .events
            .iter()
            .filter(|event| !can_book(event))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn refunds_leave_the_account_that_payments_came_to() {
        let refund: RefundIssued =
            serde_json::from_str(r#"{"currency":"EUR","amountMinor":250}"#).unwrap();
        let booking = refund.booking();
        assert_eq!((booking.account, booking.amount_minor), ("cash", -250));
    }
}
