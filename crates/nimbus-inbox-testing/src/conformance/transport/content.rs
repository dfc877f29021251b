use nimbus_messaging::{Envelope, PropertyValue};

use super::subject::{Process, Subject, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    every_field_arrives_as_it_was_sent,
    absent_fields_stay_absent,
    properties_keep_their_types_and_names,
    bodies_are_opaque_bytes,
];

/// Sends one message and returns it as it arrives.
async fn round_trip(process: &Process, envelope: Envelope) -> Envelope {
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [envelope]).await;
    let mut lane = process.accept(&endpoint).await;
    let delivery = lane.next().await;
    settled("completing", delivery.receipt.complete()).await;
    lane.release().await;
    delivery.envelope
}

/// SUB-33
async fn every_field_arrives_as_it_was_sent(subject: Subject) {
    let process = subject.connect().await;
    let mut sent = message("order-42", "order 42");
    sent.correlation_id = Some("conversation".to_owned());
    sent.reply_to = Some("ReplyEndpoint".to_owned());
    sent.reply_to_session_id = Some("reply session".to_owned());
    sent.content_type = Some("application/json; charset=utf-8".to_owned());
    sent.properties.set("EventTypeId", "OrderPlaced");
    sent.body = r#"{"EventContent":{}}"#.into();
    assert_eq!(round_trip(&process, sent.clone()).await, sent);
}

/// SUB-05
async fn absent_fields_stay_absent(subject: Subject) {
    let process = subject.connect().await;
    let nothing = Envelope::default();
    assert_eq!(round_trip(&process, nothing.clone()).await, nothing);
    let mut only_a_session = message("", "s");
    only_a_session.message_id = None;
    let arrived = round_trip(&process, only_a_session.clone()).await;
    assert_eq!(arrived, only_a_session);
    let mut only_an_id = message("m-1", "");
    only_an_id.session_id = None;
    assert_eq!(round_trip(&process, only_an_id.clone()).await, only_an_id);
}

/// SUB-33
async fn properties_keep_their_types_and_names(subject: Subject) {
    let process = subject.connect().await;
    let mut sent = message("m-1", "s");
    let values = [
        ("Text", PropertyValue::from("text")),
        ("Empty", PropertyValue::from("")),
        ("LooksLikeANumber", PropertyValue::from("0042")),
        (
            "LooksLikeAnInstant",
            PropertyValue::from("2026-01-01T00:00:00Z"),
        ),
        ("text", PropertyValue::from("names keep their case")),
        ("Überschrift 标题 🚀", PropertyValue::from("größer ≥ 🚀")),
        ("Quotes", PropertyValue::from("\"'`\\{}\n\t%$")),
        ("Smallest", PropertyValue::Integer(i64::MIN)),
        ("Largest", PropertyValue::Integer(i64::MAX)),
        ("Zero", PropertyValue::Integer(0)),
        ("Half", PropertyValue::Float(0.5)),
        ("WholeFloat", PropertyValue::Float(3.0)),
        ("Tiny", PropertyValue::Float(f64::MIN_POSITIVE)),
        ("True", PropertyValue::Boolean(true)),
        ("False", PropertyValue::Boolean(false)),
        ("Instant", PropertyValue::Instant(17_672_256_000_000_001)),
        ("BeforeTheEpoch", PropertyValue::Instant(-1)),
    ];
    for (name, value) in values {
        sent.properties.set(name, value);
    }
    let arrived = round_trip(&process, sent.clone()).await;
    for (name, value) in sent.properties.iter() {
        assert_eq!(arrived.properties.get(name), Some(value), "{name}");
    }
    assert_eq!(arrived.properties.len(), sent.properties.len());
}

/// SUB-33
async fn bodies_are_opaque_bytes(subject: Subject) {
    let process = subject.connect().await;
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    let large = every_byte.repeat(512);
    for body in [Vec::new(), vec![0], every_byte, large] {
        let mut sent = message("m-1", "s");
        sent.body = body.into();
        let arrived = round_trip(&process, sent.clone()).await;
        assert!(
            arrived.body == sent.body,
            "{} bytes changed",
            sent.body.len()
        );
    }
}
