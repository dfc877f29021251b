//! Whatever comes in, nothing panics; and what is valid is read as it was meant.

use std::collections::BTreeMap;

use nimbus_messaging::{CloudEvent, CloudEventData, Envelope, PropertyValue};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

/// The attributes of a valid event, by name.
fn attributes() -> impl Strategy<Value = BTreeMap<String, String>> {
    let text = "[ -~\u{a0}-\u{d7ff}\u{1f600}-\u{1f64f}]{1,20}";
    let optional = (
        option::of(text),
        option::of(
            "20[0-9]{2}-0[1-9]-[01][1-8]T[01][0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]0[0-9]:[0-5][0-9])",
        ),
        option::of("[a-z]{2,8}:[a-zA-Z0-9._~-]{1,9}"),
        btree_map("x[a-z0-9]{1,20}", "[ -~]{0,20}", 0..4),
    );
    let required = (text, "[a-z]{0,5}/[a-z0-9.~-]{1,20}", text);
    (required, optional).prop_map(|((id, source, event_type), optional)| {
        let (subject, time, schema, mut all) = optional;
        all.extend(
            [
                ("specversion", Some("1.0".to_owned())),
                ("id", Some(id)),
                ("source", Some(source)),
                ("type", Some(event_type)),
                ("subject", subject),
                ("time", time),
                ("dataschema", schema),
            ]
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?))),
        );
        all
    })
}

fn assert_holds(event: &CloudEvent, attributes: &BTreeMap<String, String>) {
    for (name, value) in attributes {
        assert_eq!(event.attribute(name), Some(value.as_str()), "{name}");
    }
    let extensions = attributes.keys().filter(|name| name.starts_with('x'));
    assert_eq!(event.extensions().count(), extensions.count());
}

/// As the HTTP binding encodes a header's value.
fn percent_encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'!' | b'#' | b'$' | b'&'..=b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(encode).collect()
}

proptest! {
    /// SUB-06: an event in the JSON format is read as it was meant, whatever its data.
    #[test]
    fn an_event_in_json_is_read_as_it_was_meant(
        attributes in attributes(),
        data in option::of("-?[1-9][0-9]{0,40}(\\.[0-9]{1,20})?|true|null|\"[a-z]*\"|\\[[1-9]\\]"),
    ) {
        let object: serde_json::Map<String, Value> = attributes
            .iter()
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect();
        let mut json = Value::Object(object).to_string();
        if let Some(data) = &data {
            json.pop();
            json = format!("{json}, \"data\" : {data} }}");
        }
        let event = CloudEvent::from_json(json.as_bytes()).unwrap();
        assert_holds(&event, &attributes);
        let data = data.map(CloudEventData::Json);
        prop_assert_eq!(event.data(), data.as_ref());

        let batch = format!("[{json},{json}]");
        let events = CloudEvent::batch_from_json(batch.as_bytes()).unwrap();
        prop_assert_eq!(events, vec![Ok(event.clone()), Ok(event)]);
    }

    /// SUB-06: an event in binary mode is read as it was meant, behind each prefix.
    #[test]
    fn an_event_in_properties_is_read_as_it_was_meant(
        attributes in attributes(),
        prefix in prop_oneof![Just("cloudEvents:"), Just("cloudEvents_"), Just("ce-")],
        body in vec(any::<u8>(), 1..40),
    ) {
        let mut message = Envelope { body: body.into(), ..Envelope::default() };
        for (name, value) in &attributes {
            let value = if prefix == "ce-" { percent_encoded(value) } else { value.clone() };
            message.properties.set(format!("{prefix}{name}"), value);
        }
        let event = CloudEvent::decode(&message).unwrap();
        assert_holds(&event, &attributes);
        let data = CloudEventData::Binary(message.body.clone());
        prop_assert_eq!(event.data(), Some(&data));
    }

    /// SUB-06: no bytes panic.
    #[test]
    fn no_body_panics(bytes in vec(any::<u8>(), 0..200)) {
        let _ = CloudEvent::from_json(&bytes);
        let _ = CloudEvent::batch_from_json(&bytes);
    }

    /// SUB-06: nothing that looks like an event panics, nor does asking for its data.
    #[test]
    fn nothing_like_an_event_panics(
        members in vec(
            (
                "specversion|id|source|type|subject|time|datacontenttype|dataschema|data|data_base64|[a-zA-Z_]{0,3}",
                "\"1\\.0\"|\"[ -~&&[^\"\\\\]]{0,12}\"|\"\\\\u[0-9a-f]{4}\"|-?[0-9]{1,30}|1e9|null|true|\\{\\}|\\[\\[1\\]\\]|x",
            ),
            0..12,
        ),
    ) {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let json = format!("{{{}}}", members.join(","));
        if let Ok(event) = CloudEvent::from_json(json.as_bytes()) {
            let _ = event.json_data();
            let _ = event.unique_id();
        }
    }

    /// SUB-06: no message panics.
    #[test]
    fn no_message_panics(
        content_type in option::of("(application/cloudevents(-batch)?(\\+json)?|text/json|\\PC{0,9})(;[ -~]{0,20})?"),
        properties in vec(
            (
                "(cloudEvents:|cloudEvents_|[cC][eE]-|\\PC{0,4})(specversion|id|source|type|time|datacontenttype|\\PC{0,6})",
                prop_oneof![
                    "1\\.0|\\PC{0,12}|[%\"\\\\0-9a-fA-F]{0,12}".prop_map(PropertyValue::Text),
                    any::<i64>().prop_map(PropertyValue::Integer),
                    any::<f64>().prop_map(PropertyValue::Float),
                    any::<i64>().prop_map(PropertyValue::Instant),
                ],
            ),
            0..8,
        ),
        body in vec(any::<u8>(), 0..40),
    ) {
        let mut message = Envelope { content_type, body: body.into(), ..Envelope::default() };
        for (name, value) in properties {
            message.properties.set(name, value);
        }
        if let Ok(event) = CloudEvent::decode(&message) {
            let _ = event.json_data();
        }
    }
}
