//! CloudEvents in messages: content modes and the names of application properties.

use nimbus_messaging::{
    CloudEvent, CloudEventData, CloudEventFault, CloudEventMode, Envelope, PropertyValue,
};

use crate::{json_fault, with};

/// An event in binary mode, its attributes behind this prefix.
fn binary(prefix: &str) -> Envelope {
    let mut message = Envelope {
        content_type: Some("application/json; charset=utf-8".to_owned()),
        body: r#"{"totalCents": 1999}"#.into(),
        ..Envelope::default()
    };
    for (name, value) in [
        ("specversion", "1.0"),
        ("type", "shop.order.placed"),
        ("time", "2026-09-14T03:56:24Z"),
        ("id", "7-7-7"),
        ("source", "/shop/orders"),
        ("tenantid", "t-1"),
    ] {
        message.properties.set(format!("{prefix}{name}"), value);
    }
    message
}

fn structured(content_type: &str, body: String) -> Envelope {
    Envelope {
        content_type: Some(content_type.to_owned()),
        body: body.into(),
        ..Envelope::default()
    }
}

fn fault(message: &Envelope) -> CloudEventFault {
    CloudEvent::decode(message).unwrap_err().fault().clone()
}

/// SUB-06: in binary mode attributes are properties behind any of three prefixes, the content type
/// is that of the data, and the body is the data.
#[test]
fn binary_mode_reads_every_prefix() {
    for prefix in ["cloudEvents:", "cloudEvents_", "ce-", "Ce-", "CE-"] {
        let message = binary(prefix);
        assert_eq!(CloudEventMode::of(&message), Some(CloudEventMode::Binary));
        let event = CloudEvent::decode(&message).unwrap();
        assert_eq!(event.id(), "7-7-7");
        assert_eq!(event.source(), "/shop/orders");
        assert_eq!(event.event_type(), "shop.order.placed");
        assert_eq!(event.time(), Some("2026-09-14T03:56:24Z"));
        assert_eq!(event.attribute("tenantid"), Some("t-1"));
        assert_eq!(
            event.data_content_type(),
            Some("application/json; charset=utf-8")
        );
        assert_eq!(
            event.data(),
            Some(&CloudEventData::Binary(message.body.clone()))
        );
        assert_eq!(
            event.json_data().unwrap().unwrap(),
            r#"{"totalCents": 1999}"#
        );
    }
}

/// SUB-06: properties of the broker's own types are read as their string form.
#[test]
fn native_types_of_properties_are_read() {
    let mut message = binary("cloudEvents_");
    message
        .properties
        .set("cloudEvents_attempt", PropertyValue::Integer(i64::MAX));
    message
        .properties
        .set("cloudEvents_gift", PropertyValue::Boolean(true));
    message
        .properties
        .set("cloudEvents_time", PropertyValue::Instant(10_000_000));
    let event = CloudEvent::decode(&message).unwrap();
    assert_eq!(event.attribute("attempt"), Some("9223372036854775807"));
    assert_eq!(event.attribute("gift"), Some("true"));
    assert_eq!(event.time(), Some("1970-01-01T00:00:01.0000000Z"));
    message
        .properties
        .set("cloudEvents_ratio", PropertyValue::Float(1.5));
    assert_eq!(fault(&message).attribute(), Some("ratio"));
}

/// SUB-06: only values behind `ce-` are encoded as HTTP headers are.
#[test]
fn header_values_are_decoded_behind_the_http_prefix_only() {
    let subject = "Gooseneck%20kettle%20%E2%82%AC";
    let read = |prefix: &str| {
        let mut message = binary(prefix);
        message.properties.set(format!("{prefix}subject"), subject);
        let event = CloudEvent::decode(&message).unwrap();
        event.subject().unwrap().to_owned()
    };
    assert_eq!(read("ce-"), "Gooseneck kettle \u{20ac}");
    assert_eq!(read("cloudEvents:"), subject);
    let mut message = binary("ce-");
    message.properties.set("ce-subject", "%C0%A0");
    assert_eq!(fault(&message).attribute(), Some("subject"));
}

/// SUB-06: an event in binary mode is valid under the same rules, and told by what is wrong.
#[test]
fn an_invalid_event_in_binary_mode_is_named() {
    for attribute in ["specversion", "id", "source", "type"] {
        let mut message = binary("cloudEvents:");
        message
            .properties
            .remove(&format!("cloudEvents:{attribute}"));
        assert_eq!(fault(&message), CloudEventFault::Missing { attribute });
        message
            .properties
            .set(format!("cloudEvents:{attribute}"), "");
        assert_eq!(fault(&message).to_string(), format!("{attribute} is empty"));
    }
    let changed = |name: &str, value: &str| {
        let mut message = binary("cloudEvents_");
        message.properties.set(name, value);
        fault(&message)
    };
    let name = changed("cloudEvents_tenantId", "t");
    assert!(matches!(name, CloudEventFault::Name { .. }), "{name}");
    let name = changed("cloudEvents_data", "t");
    assert!(matches!(name, CloudEventFault::Name { .. }), "{name}");
    assert_eq!(
        changed("cloudEvents:tenant", "t"),
        CloudEventFault::MixedPrefixes
    );
    assert_eq!(changed("ce-tenant", "t"), CloudEventFault::MixedPrefixes);
    let mut twice = binary("ce-");
    twice.properties.set("CE-Id", "7-7-7");
    let member = "id".to_owned();
    assert_eq!(fault(&twice), CloudEventFault::Duplicate { member });
}

/// SUB-06: the content type of the message is the type of the data; a property of that name is
/// taken where the broker has none, and may not say something else.
#[test]
fn the_content_type_is_that_of_the_data() {
    let mut message = binary("cloudEvents:");
    message.content_type = None;
    let event = CloudEvent::decode(&message).unwrap();
    assert_eq!(json_fault(&event), CloudEventFault::DataOfNoType);

    message
        .properties
        .set("cloudEvents:datacontenttype", "text/json");
    let event = CloudEvent::decode(&message).unwrap();
    assert!(event.json_data().unwrap().is_some());

    message.content_type = Some("text/json".to_owned());
    assert!(CloudEvent::decode(&message).is_ok());
    message.content_type = Some("text/xml".to_owned());
    let member = "datacontenttype".to_owned();
    assert_eq!(fault(&message), CloudEventFault::Duplicate { member });

    let mut typed = binary("cloudEvents:");
    typed.content_type = Some("application/octet-stream".to_owned());
    let event = CloudEvent::decode(&typed).unwrap();
    let found = json_fault(&event);
    assert!(
        matches!(found, CloudEventFault::DataNotJson { .. }),
        "{found}"
    );
    typed.body = "".into();
    assert_eq!(CloudEvent::decode(&typed).unwrap().json_data(), Ok(None));
    typed.content_type = Some("text/json; charset=utf-16".to_owned());
    typed.body = "1".into();
    let found = json_fault(&CloudEvent::decode(&typed).unwrap());
    assert!(matches!(found, CloudEventFault::Charset { .. }), "{found}");
}

/// SUB-06: structured mode is recognised by its content type, whatever the case and the
/// parameters; the body alone counts then.
#[test]
fn structured_mode_is_recognised_by_the_content_type() {
    for content_type in [
        "application/cloudevents+json",
        "application/cloudevents+json; charset=UTF-8",
        "Application/CloudEvents+JSON;charset=\"utf-8\"",
        " application/cloudevents+json ; profile",
    ] {
        let mut message = structured(content_type, with(""));
        message.properties.set("cloudEvents:id", "another");
        assert_eq!(
            CloudEventMode::of(&message),
            Some(CloudEventMode::Structured)
        );
        assert_eq!(CloudEvent::decode(&message).unwrap().id(), "7");
    }
    let utf_16 = structured("application/cloudevents+json; charset=utf-16", with(""));
    let found = fault(&utf_16);
    assert!(matches!(found, CloudEventFault::Charset { .. }), "{found}");
}

/// SUB-06: a batch, another format and a message that is no CloudEvent at all are told apart.
#[test]
fn what_is_no_single_event_is_refused() {
    let batch = "application/cloudevents-batch+json; charset=utf-8";
    let two = structured(batch, format!("[{},{}]", with(""), with("")));
    assert_eq!(CloudEventMode::of(&two), Some(CloudEventMode::Batch));
    assert_eq!(fault(&two), CloudEventFault::Batch { events: 2 });
    let broken = fault(&structured(batch, with("")));
    assert!(matches!(broken, CloudEventFault::Shape { .. }), "{broken}");

    for content_type in ["application/cloudevents+avro", "application/cloudevents"] {
        let message = structured(content_type, with(""));
        assert_eq!(
            CloudEventMode::of(&message),
            Some(CloudEventMode::OtherFormat)
        );
        let found = fault(&message);
        assert!(matches!(found, CloudEventFault::Format { .. }), "{found}");
    }

    let mut native = structured("application/json", with(""));
    native.properties.set("CloudEventId", "7");
    native.properties.set("ce-flavour", "x");
    native.properties.set("c\u{e9}-id", "x");
    assert_eq!(CloudEventMode::of(&native), None);
    assert_eq!(fault(&native), CloudEventFault::NotACloudEvent);
}

/// SUB-03, SUB-06: the data of binary mode nests no deeper than any other body.
#[test]
fn nesting_is_bounded_in_binary_mode() {
    let mut message = binary("cloudEvents:");
    message.body = format!("{}1{}", "[".repeat(32), "]".repeat(32)).into();
    let event = CloudEvent::decode(&message).unwrap();
    assert!(event.json_data().unwrap().is_some());
    message.body = format!("[{}]", "[".repeat(5_000_000)).into();
    let event = CloudEvent::decode(&message).unwrap();
    assert_eq!(json_fault(&event), CloudEventFault::TooDeep { limit: 32 });
}
