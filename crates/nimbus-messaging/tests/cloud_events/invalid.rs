//! Events in the JSON format that are refused, each for its own reason.

use nimbus_messaging::{AttributeProblem, CloudEvent, CloudEventFault, is_attribute_name};

use crate::{fault, with};

/// The smallest event with one member changed or taken away.
fn changed(member: &str, json: Option<&str>) -> String {
    let mut event: serde_json::Value = serde_json::from_str(&with("")).unwrap();
    match json {
        Some(json) => event[member] = serde_json::from_str(json).unwrap(),
        None => drop(event.as_object_mut().unwrap().remove(member)),
    }
    event.to_string()
}

/// SUB-06: a required attribute that is missing, null or empty is named.
#[test]
fn a_missing_attribute_is_named() {
    for attribute in ["specversion", "id", "source", "type"] {
        let missing = CloudEventFault::Missing { attribute };
        assert_eq!(fault(changed(attribute, None)), missing);
        assert_eq!(fault(changed(attribute, Some("null"))), missing);
        assert_eq!(missing.to_string(), format!("no {attribute}"));
        let empty = fault(changed(attribute, Some("\"\"")));
        assert_eq!(empty.to_string(), format!("{attribute} is empty"));
        assert_eq!(empty.attribute(), Some(attribute));
    }
    for attribute in ["subject", "time", "datacontenttype", "dataschema"] {
        let empty = fault(changed(attribute, Some("\"\"")));
        assert_eq!(empty.to_string(), format!("{attribute} is empty"));
    }
}

/// SUB-06: an attribute of the specification is a string; an extension a string, a whole number or
/// a truth value.
#[test]
fn an_attribute_of_a_wrong_type_is_named() {
    for (attribute, json, text) in [
        ("id", "7", "id is a number, not a string"),
        (
            "specversion",
            "1.0",
            "specversion is a number, not a string",
        ),
        ("type", "[\"a\"]", "type is an array, not a string"),
        ("subject", "false", "subject is a truth value, not a string"),
        (
            "tenant",
            "{\"a\":1}",
            "tenant is an object, not a string, a whole number or a truth value",
        ),
        (
            "ratio",
            "1.5",
            "ratio is a number with a fraction or an exponent, not a string, a whole number or a \
             truth value",
        ),
    ] {
        let found = fault(changed(attribute, Some(json)));
        assert_eq!(found.to_string(), text);
        assert_eq!(found.attribute(), Some(attribute));
    }
    let exponent = fault(with(r#","big":1E3"#));
    assert_eq!(exponent.attribute(), Some("big"));
}

/// SUB-06: what an attribute says has to follow its format.
#[test]
fn an_attribute_of_a_wrong_format_is_named() {
    let cases = [
        (
            "specversion",
            "0.3",
            "specversion is \"0.3\"; only CloudEvents 1.0 are read",
        ),
        (
            "specversion",
            "1.0.1",
            "specversion is \"1.0.1\"; only CloudEvents 1.0 are read",
        ),
        (
            "source",
            "my shop",
            "source holds white space, so it is no URI reference",
        ),
        (
            "source",
            "/caf\u{e9}",
            "source holds a character that would have to be percent-encoded, so it is no URI \
             reference",
        ),
        (
            "dataschema",
            "/order.json",
            "dataschema has no scheme such as https:, so it is no absolute URI",
        ),
        (
            "time",
            "2026-09-14",
            "time is not an RFC 3339 instant such as 2026-09-14T06:12:05Z",
        ),
        (
            "time",
            "2026-09-14T06:12:05",
            "time is not an RFC 3339 instant such as 2026-09-14T06:12:05Z",
        ),
        (
            "time",
            "2026-02-30T06:12:05Z",
            "time is not an RFC 3339 instant such as 2026-09-14T06:12:05Z",
        ),
        (
            "datacontenttype",
            "json",
            "datacontenttype is not a media type such as application/json",
        ),
        (
            "id",
            "a\u{7}b",
            "id holds the character '\\u{7}', which no attribute may hold",
        ),
        (
            "tenant",
            "\u{fffe}",
            "tenant holds the character '\\u{fffe}', which no attribute may hold",
        ),
    ];
    for (attribute, value, text) in cases {
        let json = serde_json::Value::from(value).to_string();
        let found = fault(changed(attribute, Some(&json)));
        assert_eq!(found.to_string(), text);
        assert_eq!(found.attribute(), Some(attribute));
    }
    let lone = fault(with(r#","tenant":"\ud800""#));
    assert_eq!(
        lone,
        CloudEventFault::Attribute {
            attribute: "tenant".to_owned(),
            problem: AttributeProblem::Escape,
        }
    );
}

/// SUB-06: names are lower-case letters and digits, at least one; `data` is none.
#[test]
fn a_name_that_is_none_is_shown() {
    for name in [
        "tenantId",
        "tenant_id",
        "$schema",
        "tenant-id",
        "",
        "t\u{e9}nant",
        "ID",
    ] {
        assert!(!is_attribute_name(name));
        let found = fault(changed(name, Some("\"x\"")));
        assert_eq!(
            found,
            CloudEventFault::Name {
                name: name.to_owned()
            }
        );
        assert_eq!(found.attribute(), Some(name));
    }
    assert!(!is_attribute_name("data"));
    let long = fault(changed(&"N".repeat(10_000), Some("1")));
    assert!(long.to_string().len() < 200);
    // Longer than the specification advises, and starting with a digit: allowed.
    let name = "7thattributeofsomeverylongname";
    assert!(is_attribute_name(name));
    assert!(CloudEvent::from_json(changed(name, Some("\"x\"")).as_bytes()).is_ok());
}

/// SUB-06: no member may be there twice, not even with the same value.
#[test]
fn a_repeated_member_is_refused() {
    for member in [
        r#","id":"7""#,
        r#","id":"8""#,
        r#","tenant":"a","tenant":"a""#,
        r#","data":1,"data":1"#,
        r#","data_base64":"","data_base64":"""#,
        r#","d":"a","\u0064":"b""#,
    ] {
        let found = fault(with(member));
        assert!(
            matches!(found, CloudEventFault::Duplicate { .. }),
            "{member}: {found}"
        );
    }
}

/// SUB-06: `data` and `data_base64` exclude each other; a null `data_base64` is none.
#[test]
fn there_is_one_payload() {
    assert_eq!(
        fault(with(r#","data":null,"data_base64":"AA==""#)),
        CloudEventFault::TwoData
    );
    let unset = with(r#","data":1,"data_base64":null"#);
    assert!(CloudEvent::from_json(unset.as_bytes()).is_ok());
    for base64 in ["\"A\"", "\"AA\"", "\"A A=\"", "\"_-8=\"", "7", "{}"] {
        let found = fault(with(&format!(r#","data_base64":{base64}"#)));
        assert!(
            matches!(found, CloudEventFault::Base64 { .. }),
            "{base64}: {found}"
        );
    }
    let not_text = fault(with(
        r#","datacontenttype":"application/xml","data":{"a":1}"#,
    ));
    assert!(
        matches!(not_text, CloudEventFault::DataNotText { .. }),
        "{not_text}"
    );
}

/// SUB-06: what is no JSON object is refused without its content.
#[test]
fn what_is_no_object_is_refused() {
    for (json, text) in [
        (
            "",
            "the body is not JSON: the JSON ends too early at line 1 column 0",
        ),
        (
            "payload-4711",
            "the body is not JSON: invalid JSON at line 1 column 1",
        ),
        ("[]", "the body is an array, not an object"),
        ("\"payload-4711\"", "the body is a string, not an object"),
        ("null", "the body is null, not an object"),
    ] {
        assert_eq!(fault(json).to_string(), text);
    }
    let cut_off = with("");
    let cut_off = fault(&cut_off[..cut_off.len() - 4]);
    assert!(matches!(cut_off, CloudEventFault::Json { .. }), "{cut_off}");
    let not_utf_8 = [with("").as_bytes(), b"\xff"].concat();
    assert!(matches!(fault(not_utf_8), CloudEventFault::Json { .. }));
}

/// SUB-06: what an invalid event said of itself is kept, so that a report can name it.
#[test]
fn an_invalid_event_is_still_named() {
    let json = r#"{"id":"7","source":"/shop","tenantId":"x","subject":"order-7","time":"noon"}"#;
    let invalid = CloudEvent::from_json(json.as_bytes()).unwrap_err();
    let said = invalid.identity();
    assert_eq!(said.id.as_deref(), Some("7"));
    assert_eq!(said.source.as_deref(), Some("/shop"));
    assert_eq!(said.event_type, None);
    assert_eq!(said.subject.as_deref(), Some("order-7"));
    assert_eq!(invalid.fault().attribute(), Some("tenantId"));
    assert_eq!(invalid.json_data(), None);
}

/// SUB-06, SUB-24: the data of an invalid event is kept where it can be read, and not shown.
#[test]
fn the_data_of_an_invalid_event_is_kept() {
    let refused = |members: &str| {
        let json = format!(r#"{{"specversion":"1.0","source":"/shop","type":"t"{members}}}"#);
        CloudEvent::from_json(json.as_bytes()).unwrap_err()
    };
    let invalid = refused(r#","data":{"card":"payload-4711"}"#);
    assert_eq!(invalid.json_data(), Some(r#"{"card":"payload-4711"}"#));
    assert!(!format!("{invalid:?} {invalid}").contains("4711"));
    let base64 = r#","data_base64":"eyJ4eXoiOiAxMjN9""#;
    let typed = refused(&format!(r#","datacontenttype":"text/json"{base64}"#));
    assert_eq!(typed.json_data(), Some(r#"{"xyz": 123}"#));
    for unreadable in [
        "",
        base64,
        r#","data":1,"data_base64":"AA==""#,
        r#","datacontenttype":"text/plain","data":"x""#,
    ] {
        assert_eq!(refused(unreadable).json_data(), None, "{unreadable}");
    }
}
