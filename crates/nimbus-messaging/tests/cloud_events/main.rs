//! CloudEvents 1.0 as other producers write them.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

mod invalid;
mod json;
mod messages;
mod properties;

use nimbus_messaging::{CloudEvent, CloudEventFault};

/// What is wrong with an event in the JSON format.
fn fault(json: impl AsRef<[u8]>) -> CloudEventFault {
    CloudEvent::from_json(json.as_ref())
        .unwrap_err()
        .fault()
        .clone()
}

/// Why the data of an event is no JSON.
fn json_fault(event: &CloudEvent) -> CloudEventFault {
    event.json_data().unwrap_err().fault().clone()
}

/// The smallest event, with more members.
fn with(members: &str) -> String {
    format!(
        r#"{{"specversion":"1.0","id":"7","source":"/shop","type":"shop.order.placed"{members}}}"#
    )
}
