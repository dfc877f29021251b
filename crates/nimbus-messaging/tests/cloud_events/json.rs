//! Events in the JSON format that are valid.

use nimbus_messaging::{CloudEvent, CloudEventData, CloudEventFault};

use crate::{fault, json_fault, with};

/// SUB-06: the shapes that the specification of the JSON format shows: every attribute, nulls for
/// those that are not set, extensions of each type.
#[test]
fn every_attribute_is_read() {
    let event = CloudEvent::from_json(
        br#"{
            "specversion": "1.0",
            "type": "com.example.shop.order.placed",
            "source": "https://shop.example/orders",
            "subject": "order-42",
            "id": "A-42-1",
            "time": "2026-09-14T08:12:05.76+02:00",
            "dataschema": "https://shop.example/schemas/order.json",
            "datacontenttype": "application/json",
            "shopregion": "north",
            "shopattempt": 5,
            "shopgift": true,
            "shopunset": null,
            "data": {"totalCents": 1999, "lines": [{"sku": "KTL-104"}], "gift": true}
        }"#,
    )
    .unwrap();
    assert_eq!(event.id(), "A-42-1");
    assert_eq!(event.source(), "https://shop.example/orders");
    assert_eq!(event.event_type(), "com.example.shop.order.placed");
    assert_eq!(event.subject(), Some("order-42"));
    assert_eq!(event.time(), Some("2026-09-14T08:12:05.76+02:00"));
    assert_eq!(
        event.data_schema(),
        Some("https://shop.example/schemas/order.json")
    );
    assert_eq!(event.data_content_type(), Some("application/json"));
    let extensions: Vec<_> = event.extensions().collect();
    assert_eq!(
        extensions,
        [
            ("shopattempt", "5"),
            ("shopgift", "true"),
            ("shopregion", "north")
        ]
    );
    let data = r#"{"totalCents": 1999, "lines": [{"sku": "KTL-104"}], "gift": true}"#;
    assert_eq!(event.json_data().unwrap().unwrap(), data);
}

/// SUB-06: any attribute is found by its name; one that is not there is not.
#[test]
fn attributes_are_found_by_name() {
    let more = r#","subject":"s","time":"2026-01-31T12:00:00Z","datacontenttype":"text/json","dataschema":"urn:x","tenantid":"t""#;
    let event = CloudEvent::from_json(with(more).as_bytes()).unwrap();
    for (name, value) in [
        ("specversion", "1.0"),
        ("id", "7"),
        ("source", "/shop"),
        ("type", "shop.order.placed"),
        ("subject", "s"),
        ("time", "2026-01-31T12:00:00Z"),
        ("datacontenttype", "text/json"),
        ("dataschema", "urn:x"),
        ("tenantid", "t"),
    ] {
        assert_eq!(event.attribute(name), Some(value), "{name}");
    }
    let least = CloudEvent::from_json(with("").as_bytes()).unwrap();
    for name in [
        "subject",
        "time",
        "datacontenttype",
        "dataschema",
        "tenantid",
    ] {
        assert_eq!(least.attribute(name), None, "{name}");
    }
    assert_eq!(least.data(), None);
    assert_eq!(least.json_data(), Ok(None));
}

/// SUB-06: JSON of any kind is data, a null and a string included, and is kept as it was written.
#[test]
fn json_data_is_kept_as_it_was_written() {
    for data in [
        "1.5",
        "null",
        "true",
        "[]",
        r#""just a string""#,
        r#""{\"xyz\": 123}""#,
        "12345678901234567890.123456789012345678901234567890",
        r#"{ "b" : 1, "a" : 1e400, "b" : 2 }"#,
    ] {
        for content_type in [
            "",
            r#","datacontenttype":"application/json""#,
            r#","datacontenttype":"Application/vnd.Shop+JSON; v=1""#,
        ] {
            let json = with(&format!(r#"{content_type},"data":{data}"#));
            let event = CloudEvent::from_json(json.as_bytes()).unwrap();
            assert_eq!(event.data(), Some(&CloudEventData::Json(data.to_owned())));
            assert_eq!(event.json_data().unwrap().as_deref(), Some(data));
        }
    }
}

/// SUB-06: numbers of any size and the offset of a time keep every digit.
#[test]
fn large_numbers_and_offsets_are_kept() {
    let more =
        r#","sequence":-98765432109876543210,"time":"2026-09-14T06:12:05.1234567890123-11:30""#;
    let event = CloudEvent::from_json(with(more).as_bytes()).unwrap();
    assert_eq!(event.attribute("sequence"), Some("-98765432109876543210"));
    assert_eq!(
        event.time(),
        Some("2026-09-14T06:12:05.1234567890123-11:30")
    );
}

/// SUB-06: data of another type is text in `data` or bytes in `data_base64`, and no JSON.
#[test]
fn data_of_other_types_is_kept_apart() {
    let xml = with(r#","datacontenttype":"application/xml","data":"<much wow=\"xml\"/>""#);
    let event = CloudEvent::from_json(xml.as_bytes()).unwrap();
    let text = r#"<much wow="xml"/>"#.to_owned();
    assert_eq!(event.data(), Some(&CloudEventData::Text(text)));
    let not_json = |content_type: &str| CloudEventFault::DataNotJson {
        content_type: content_type.to_owned(),
    };
    assert_eq!(json_fault(&event), not_json("application/xml"));

    let bytes = with(r#","datacontenttype":"image/png","data_base64":"4P8ARKo=""#);
    let event = CloudEvent::from_json(bytes.as_bytes()).unwrap();
    let expected = CloudEventData::Binary(vec![0xe0, 0xff, 0x00, 0x44, 0xaa].into());
    assert_eq!(event.data(), Some(&expected));
    assert_eq!(json_fault(&event), not_json("image/png"));
}

/// SUB-06: bytes are JSON if their type says so, and never by their looks.
#[test]
fn bytes_are_json_by_their_type_only() {
    // {"xyz": 123}
    let base64 = r#","data_base64":"eyJ4eXoiOiAxMjN9""#;
    let typed = with(&format!(r#","datacontenttype":"application/json"{base64}"#));
    let event = CloudEvent::from_json(typed.as_bytes()).unwrap();
    assert_eq!(event.json_data().unwrap().unwrap(), r#"{"xyz": 123}"#);

    let untyped = CloudEvent::from_json(with(base64).as_bytes()).unwrap();
    assert_eq!(json_fault(&untyped), CloudEventFault::DataOfNoType);

    let broken = with(r#","datacontenttype":"text/json","data_base64":"e3NlY3JldA==""#);
    let broken = CloudEvent::from_json(broken.as_bytes()).unwrap();
    let found = json_fault(&broken);
    assert!(
        matches!(found, CloudEventFault::DataMalformed { .. }),
        "{found}"
    );
    assert!(!found.to_string().contains("secret"));
}

/// SUB-06: a batch is an array whose events are read one by one; it may be empty.
#[test]
fn the_events_of_a_batch_stand_alone() {
    let batch = format!(
        "[{}, {}, {}, 3]",
        with(r#","datacontenttype":"image/png","data_base64":"4P8ARKo=""#),
        r#"{"specversion":"1.0","id":"8","source":"/shop"}"#,
        with(r#","data":{"a":1}"#),
    );
    let events = CloudEvent::batch_from_json(batch.as_bytes()).unwrap();
    let read: Vec<_> = events
        .iter()
        .map(|event| {
            event
                .as_ref()
                .map(CloudEvent::id)
                .map_err(ToString::to_string)
        })
        .collect();
    assert_eq!(
        read,
        [
            Ok("7"),
            Err("no type".to_owned()),
            Ok("7"),
            Err("the body is a number, not an object".to_owned()),
        ]
    );
    assert!(CloudEvent::batch_from_json(b" [ ] ").unwrap().is_empty());
    for (json, text) in [
        (with(""), "the body is an object, not an array"),
        (
            "[".to_owned(),
            "the body is not JSON: the JSON ends too early at line 1 column 1",
        ),
    ] {
        let found = CloudEvent::batch_from_json(json.as_bytes()).unwrap_err();
        assert_eq!(found.to_string(), text);
    }
}

/// SUB-06, SUB-34: an id is unique within its source only; both together name the event, in 64
/// characters however long they are.
#[test]
fn source_and_id_together_name_the_event() {
    let named = |source: &str, id: &str| {
        let json = format!(r#"{{"specversion":"1.0","id":"{id}","source":"{source}","type":"t"}}"#);
        CloudEvent::from_json(json.as_bytes()).unwrap().unique_id()
    };
    assert_eq!(named("/shop", "7"), named("/shop", "7"));
    assert_ne!(named("/shop", "7"), named("/shop2", "7"));
    assert_ne!(named("/shop1", "7"), named("/shop", "17"));
    assert_ne!(named("/shop", "a"), named("/shop", "A"));
    assert_eq!(named(&"x".repeat(9_000), "7").len(), 64);
}

/// SUB-03, SUB-06: what is nested too deeply is refused before anything is built from it.
#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let data = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        with(&format!(r#","data":{data}"#))
    };
    assert!(CloudEvent::from_json(nested(31).as_bytes()).is_ok());
    assert_eq!(fault(nested(32)), CloudEventFault::TooDeep { limit: 32 });
    assert_eq!(
        fault("[".repeat(5_000_000)),
        CloudEventFault::TooDeep { limit: 32 }
    );
    let batch = format!("[{},{}]", nested(31), nested(32));
    let events = CloudEvent::batch_from_json(batch.as_bytes()).unwrap();
    assert!(events[0].is_ok() && events[1].is_err());
    let flood = "[".repeat(5_000_000);
    assert!(CloudEvent::batch_from_json(flood.as_bytes()).is_err());
    let flood = format!("{flood}{}", "]".repeat(5_000_000));
    assert!(CloudEvent::batch_from_json(flood.as_bytes()).unwrap()[0].is_err());
}

/// INB-09: what is shown of an event holds no data.
#[test]
fn data_is_never_shown() {
    for data in [
        r#","data":{"card":"payload-4711"}"#,
        r#","datacontenttype":"text/plain","data":"payload-4711""#,
        r#","data_base64":"cGF5bG9hZC00NzEx""#,
    ] {
        let event = CloudEvent::from_json(with(data).as_bytes()).unwrap();
        let shown = format!("{event:?}");
        assert!(shown.contains("bytes"), "{shown}");
        assert!(!shown.contains("4711") && !shown.contains("112"), "{shown}");
    }
}
