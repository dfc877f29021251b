use std::fs;

use super::lines::LONGEST;
use super::read::parse;
use super::*;

const ORDER: &str = r#"{"messageId":"m-1","sessionId":"s","eventType":"OrderPlaced","occurredAt":"2026-09-14T06:12:05.760Z","data":{"totalMinor":1}}"#;

const CLOUD: &str = r#"{"specversion":"1.0","id":"7","source":"/shop","type":"OrderPlaced","subject":"order-7","time":"2026-09-14T06:12:05Z","data":{"totalMinor":1}}"#;

fn parsed(text: impl AsRef<[u8]>) -> EventFile {
    parse(text.as_ref()).unwrap()
}

/// The one reason why the only line holds no event.
fn reason(line: impl AsRef<[u8]>) -> String {
    let file = parsed(line);
    assert!(file.events.is_empty(), "{:?}", file.events);
    let [bad] = &file.reading.bad_lines[..] else {
        panic!("{:?}", file.reading);
    };
    assert_eq!(bad.line, 1);
    bad.reason.clone()
}

fn without(line: &str, member: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
    value.as_object_mut().unwrap().remove(member).unwrap();
    value.to_string()
}

fn with(line: &str, member: &str, json: &str) -> String {
    let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
    value[member] = serde_json::from_str(json).unwrap();
    value.to_string()
}

#[test]
fn every_bad_line_is_reported_and_none_is_fatal_to_the_rest() {
    let path = own_file().with_file_name("orders-with-bad-lines.jsonl");
    let file = read(&path).unwrap();
    let bad: Vec<(usize, &str)> = file
        .reading
        .bad_lines
        .iter()
        .map(|bad| (bad.line, bad.reason.as_str()))
        .collect();
    assert_eq!(
        bad,
        [
            (3, "not JSON: EOF while parsing an object at column 287"),
            (5, "no messageId"),
            (6, "no eventType"),
            (8, "the line is empty"),
            (11, "an array, not an object"),
            (12, "a string, not an object"),
            (13, "a number, not an object"),
            (14, "null, not an object"),
            (16, "messageId is a number, not a string"),
            (17, "eventType is an array, not a string"),
            (18, "data is a string, not an object"),
            (24, "not UTF-8: byte 168 of the line is invalid"),
            (28, "no sessionId"),
            (29, "not JSON: key must be a string at column 2"),
            (31, "not JSON: trailing characters at column 313"),
        ]
    );
    let lines: Vec<usize> = file.events.iter().map(|event| event.line).collect();
    assert_eq!(
        lines,
        [
            1, 2, 4, 7, 9, 10, 15, 19, 20, 21, 22, 23, 25, 26, 27, 30, 32
        ]
    );
    let remarks: Vec<usize> = file.reading.remarks.iter().map(|one| one.line).collect();
    assert_eq!(remarks, [10, 25, 26, 27]);
    assert!(file.reading.remarks[0].text.contains("600"));
}

#[test]
fn an_event_keeps_what_the_line_says() {
    let precise = with(ORDER, "data", r#"{"amount":1}"#).replace("1}", "12345678901234567890.10}");
    let file = parsed(&precise);
    let [event] = &file.events[..] else {
        panic!("{:?}", file.reading);
    };
    assert_eq!(event.message_id, "m-1");
    assert_eq!(event.session.as_deref(), Some("s"));
    assert_eq!(event.data.get(), r#"{"amount":12345678901234567890.10}"#);
}

#[test]
fn a_mark_windows_line_ends_and_a_missing_last_end_are_no_problem() {
    let text = format!(
        "\u{feff}{ORDER}\r\n{}\r\n{CLOUD}",
        ORDER.replace("m-1", "m-2")
    );
    let file = parsed(text);
    assert_eq!(file.events.len(), 3, "{:?}", file.reading);
    assert_eq!(file.reading.lines, 3);
}

#[test]
fn missing_members_and_wrong_ones_are_named() {
    for member in ["messageId", "sessionId", "eventType", "occurredAt", "data"] {
        assert_eq!(reason(without(ORDER, member)), format!("no {member}"));
        let wrong = reason(with(ORDER, member, "true"));
        assert!(
            wrong.starts_with(&format!("{member} is a truth value")),
            "{wrong}"
        );
    }
    assert_eq!(
        reason(with(ORDER, "sessionId", "\" \"")),
        "sessionId is empty"
    );
    assert!(reason(with(ORDER, "occurredAt", "\"noon\"")).contains("RFC 3339"));
    assert!(reason(r#"{"source":"/shop","id":"7"}"#).contains("specversion"));
    let heartbeat = reason(with(ORDER, "eventType", "\"Heartbeat\""));
    assert!(heartbeat.contains("no event"), "{heartbeat}");
    let long = ORDER.replace("m-1", &"m".repeat(4_097));
    assert_eq!(reason(long), "messageId is longer than 4096 bytes");
    let surrogate = ORDER.replace("m-1", r"\ud800");
    assert_eq!(
        reason(surrogate),
        "messageId is a string with an invalid escape"
    );
}

/// SUB-06: the attributes of a CloudEvent become event type, session and identity.
#[test]
fn a_cloud_event_is_mapped() {
    let file = parsed(CLOUD);
    let [event] = &file.events[..] else {
        panic!("{:?}", file.reading);
    };
    assert_eq!(event.message_id, "/shop 7");
    assert_eq!(event.session.as_deref(), Some("order-7"));
    assert_eq!(event.event_type, "OrderPlaced");
    let cloud = event.cloud.as_ref().unwrap();
    assert_eq!((cloud.id.as_str(), cloud.source.as_str()), ("7", "/shop"));

    let session = with(CLOUD, "sessionid", "\"s-9\"");
    assert_eq!(parsed(session).events[0].session.as_deref(), Some("s-9"));
    let alone = without(CLOUD, "subject");
    assert_eq!(parsed(alone).events[0].session, None);
    let unset = with(CLOUD, "subject", "null");
    assert_eq!(parsed(unset).events[0].session, None);
}

#[test]
fn an_invalid_cloud_event_is_reported_by_its_attribute() {
    for attribute in ["id", "source", "type", "data"] {
        assert_eq!(reason(without(CLOUD, attribute)), format!("no {attribute}"));
    }
    assert_eq!(reason(with(CLOUD, "id", "\"\"")), "id is empty");
    assert!(reason(with(CLOUD, "specversion", "\"0.3\"")).contains("0.3"));
    assert!(reason(with(CLOUD, "source", "\"a b\"")).contains("white space"));
    assert!(reason(with(CLOUD, "time", "\"noon\"")).contains("RFC 3339"));
    assert!(reason(with(CLOUD, "data_base64", "\"AA==\"")).contains("data_base64"));
    assert!(reason(with(CLOUD, "datacontenttype", "\"text/xml\"")).contains("text/xml"));
    assert!(reason(with(CLOUD, "tenantId", "\"x\"")).contains("tenantId"));
    assert_eq!(
        reason(with(CLOUD, "sessionid", "\" \"")),
        "sessionid is empty"
    );
    assert_eq!(
        reason(with(CLOUD, "data", "[1]")),
        "data is an array, not an object"
    );
    let bytes = with(&without(CLOUD, "data"), "data_base64", "\"AA==\"");
    assert!(reason(bytes).contains("data_base64"));
    let twice = CLOUD.replacen('{', r#"{"id":"8","#, 1);
    assert_eq!(reason(twice), "id is there more than once");
    let long = CLOUD.replace("\"7\"", &format!("\"{}\"", "7".repeat(4_097)));
    assert_eq!(reason(long), "id is longer than 4096 bytes");
    let json = with(
        CLOUD,
        "datacontenttype",
        "\"Application/JSON; charset=utf-8\"",
    );
    assert_eq!(parsed(json).events.len(), 1);
}

/// The ids of two sources are no duplicates of each other.
#[test]
fn the_source_is_part_of_a_cloud_events_identity() {
    let other = with(CLOUD, "source", "\"/shop2\"");
    let file = parsed(format!("{CLOUD}\n{other}"));
    assert_ne!(file.events[0].message_id, file.events[1].message_id);
    assert!(file.reading.remarks.is_empty(), "{:?}", file.reading);
}

#[test]
fn an_id_that_is_used_again_is_told_of() {
    let same = parsed(format!("{ORDER}\n{ORDER}"));
    assert_eq!(same.events.len(), 2);
    assert!(same.reading.remarks.is_empty(), "{:?}", same.reading);

    let other_content = with(ORDER, "data", r#"{"totalMinor":2}"#);
    let changed = parsed(format!("{ORDER}\n{other_content}"));
    assert_eq!(changed.events.len(), 2);
    assert!(changed.reading.remarks[0].text.contains("line 1"));

    let other_session = with(ORDER, "sessionId", "\"t\"");
    let moved = parsed(format!("{ORDER}\n{other_session}"));
    assert_eq!(moved.events.len(), 1);
    assert!(
        moved.reading.bad_lines[0]
            .reason
            .contains("another session")
    );
}

#[test]
fn lines_too_long_to_send_are_left_out_without_being_held() {
    let filler = "x".repeat(LONGEST);
    let long = with(ORDER, "data", &format!(r#"{{"note":"{filler}"}}"#));
    let file = parsed(format!("{long}\n{filler}{filler}{filler}\r\n{ORDER}\n"));
    let bad: Vec<usize> = file.reading.bad_lines.iter().map(|bad| bad.line).collect();
    assert_eq!(bad, [1, 2]);
    assert!(file.reading.bad_lines[0].reason.contains("256 KiB"));
    assert_eq!(file.events[0].line, 3);
    // Exactly as long as allowed: judged by what it says.
    assert_eq!(
        reason(format!("{filler}\r\n")),
        "not JSON: expected value at column 1"
    );
}

#[test]
fn files_that_hold_no_lines_of_json_say_what_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let failure = |name: &str, content: Option<&[u8]>| {
        let path = directory.path().join(name);
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
        }
        format!("{:#}", read(&path).unwrap_err())
    };
    assert!(failure("missing.jsonl", None).contains("missing.jsonl"));
    assert!(failure("", None).contains("is a directory"));
    assert!(failure("empty.jsonl", Some(b"")).contains("is empty"));
    assert!(failure("wide.jsonl", Some(b"\xFF\xFE{\0}\0")).contains("UTF-16"));
    let array = parsed("[\n{\"id\":\"7\"}\n]\n");
    assert!(array.events.is_empty());
    assert!(array.reading.advice().contains("jq"));
    assert_eq!(parsed("\n").reading.advice(), "");
}
