//! The message model on the wire.

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{
    Address, Envelope, ErrorContent, EventContent, EventId, Headers, MalformedMessage,
    MessageContent, MessageType, PropertyValue, TraceContext, property,
};
use proptest::prelude::*;

const ALL_TYPES: [MessageType; 15] = [
    MessageType::Unknown,
    MessageType::EventRequest,
    MessageType::ErrorResponse,
    MessageType::ResolutionResponse,
    MessageType::DeferralResponse,
    MessageType::SkipResponse,
    MessageType::ResubmissionRequest,
    MessageType::SkipRequest,
    MessageType::RetryRequest,
    MessageType::ContinuationRequest,
    MessageType::UnsupportedResponse,
    MessageType::ProcessDeferredRequest,
    MessageType::PendingHandoffResponse,
    MessageType::HandoffCompletedRequest,
    MessageType::HandoffFailedRequest,
];

/// SUB-01: a message type travels as its name.
#[test]
fn message_types_travel_by_name() {
    for message_type in ALL_TYPES {
        assert_eq!(MessageType::from_wire(message_type.as_str()), message_type);
        assert_eq!(format!("{message_type:?}"), message_type.as_str());
    }
    assert_eq!(
        MessageType::from_wire("eventrequest"),
        MessageType::EventRequest
    );
    assert_eq!(MessageType::from_wire("Telegram"), MessageType::Unknown);
}

/// SUB-02: every property has its fixed name, is text, and reads back; numbers are invariant
/// decimal text and instants ISO 8601 in UTC.
#[test]
fn headers_round_trip_as_text_under_fixed_names() {
    let headers = full_headers();
    let envelope = headers.clone().into_envelope(&MessageContent::default());

    let expected = [
        ("From", "Manager"),
        ("To", "BillingEndpoint"),
        ("MessageType", "RetryRequest"),
        ("EventId", "e-1"),
        ("OriginatingMessageId", "om-1"),
        ("ParentMessageId", "pm-1"),
        ("ParentMessageType", "EventRequest"),
        ("RetryLimit", "5"),
        ("RetryCount", "4294967295"),
        ("OriginatingFrom", "Shop"),
        ("DeadLetterErrorDescription", "why"),
        ("DeadLetterReason", "because"),
        ("EventTypeId", "OrderPlaced"),
        ("OriginalSessionId", "s-0"),
        ("DeferralSequence", "-9223372036854775808"),
        ("QueueTimeMs", "12"),
        ("ProcessingTimeMs", "13"),
        ("HandoffReason", "slow bank"),
        ("ExternalJobId", "job-1"),
        ("ExpectedBy", "2026-01-31T12:00:00.1234567Z"),
        ("CloudEventId", "ce-1"),
        ("CloudEventSource", "/shop"),
        ("CloudEventType", "order.placed"),
        ("CloudEventSubject", "42"),
        ("ThrottleRetryCount", "2"),
        ("InboxMessageId", "m-0"),
        ("BlockId", "b-1"),
        ("NextRetryAt", "2026-01-31T12:00:05.0000000Z"),
        ("traceparent", "00-a-b-01"),
        ("tracestate", "v=1"),
    ];
    for (name, text) in expected {
        assert_eq!(
            envelope.properties.get(name),
            Some(&PropertyValue::Text(text.to_owned())),
            "{name}"
        );
    }
    assert_eq!(envelope.properties.len(), expected.len());
    assert_eq!(Headers::read(&envelope), Ok(headers));
}

fn full_headers() -> Headers {
    let text = |text: &str| Some(text.to_owned());
    Headers {
        message_id: text("m-1"),
        session_id: text("s-1"),
        correlation_id: text("c-1"),
        reply_to: text("r-1"),
        reply_to_session_id: text("rs-1"),
        message_type: MessageType::RetryRequest,
        from: Some(Address::MANAGER),
        to: Some(Address::new("BillingEndpoint")),
        event_id: Some(EventId::new("e-1")),
        event_type_id: text("OrderPlaced"),
        originating_message_id: text("om-1"),
        originating_from: text("Shop"),
        parent_message_id: text("pm-1"),
        parent_message_type: Some(MessageType::EventRequest),
        original_session_id: text("s-0"),
        inbox_message_id: text("m-0"),
        block_id: text("b-1"),
        next_retry_at: "2026-01-31T12:00:05Z".parse().ok(),
        retry_limit: Some(5),
        retry_count: Some(u32::MAX),
        throttle_retry_count: Some(2),
        deferral_sequence: Some(i64::MIN),
        queue_time_ms: Some(12),
        processing_time_ms: Some(13),
        dead_letter_reason: text("because"),
        dead_letter_error_description: text("why"),
        handoff_reason: text("slow bank"),
        external_job_id: text("job-1"),
        expected_by: "2026-01-31T12:00:00.1234567Z".parse::<Timestamp>().ok(),
        cloud_event_id: text("ce-1"),
        cloud_event_source: text("/shop"),
        cloud_event_type: text("order.placed"),
        cloud_event_subject: text("42"),
        trace: TraceContext {
            parent: text("00-a-b-01"),
            state: text("v=1"),
        },
    }
}

/// SUB-05: every identity may be absent, and an empty one is absent.
#[test]
fn absent_and_empty_identities_are_none() {
    assert_eq!(Headers::read(&Envelope::default()), Ok(Headers::default()));
    let mut envelope = Envelope {
        message_id: Some(String::new()),
        session_id: Some(String::new()),
        ..Envelope::default()
    };
    for name in [property::EVENT_ID, property::RETRY_COUNT, property::FROM] {
        envelope.properties.set(name, "");
    }
    assert_eq!(Headers::read(&envelope), Ok(Headers::default()));
}

/// SUB-02: a number or an instant that is none is refused, naming the property.
#[test]
fn malformed_numbers_and_instants_name_their_property() {
    for (name, text) in [
        (property::RETRY_COUNT, "-1"),
        (property::RETRY_COUNT, "1e3"),
        (property::RETRY_LIMIT, "4294967296"),
        (property::DEFERRAL_SEQUENCE, "first"),
        (property::EXPECTED_BY, "tomorrow"),
    ] {
        let mut envelope = Envelope::default();
        envelope.properties.set(name, text);
        let error = Headers::read(&envelope).expect_err("it is malformed");
        assert!(
            matches!(&error, MalformedMessage::Property { name: named, .. } if *named == name),
            "{error}"
        );
    }
}

/// SUB-02: a foreign producer's number property reads as its decimal text.
#[test]
fn foreign_property_kinds_read_as_text() {
    let mut envelope = Envelope::default();
    envelope
        .properties
        .set(property::RETRY_COUNT, PropertyValue::Integer(3));
    envelope
        .properties
        .set(property::FROM, PropertyValue::Boolean(true));
    let headers = Headers::read(&envelope).expect("both have a text");
    assert_eq!(headers.retry_count, Some(3));
    assert_eq!(headers.from, Some(Address::new("true")));
}

/// SUB-04: addresses and event ids are equal whatever their ASCII case, and only that.
#[test]
fn addresses_and_event_ids_ignore_ascii_case() {
    assert_eq!(Address::new("mANAGER"), Address::MANAGER);
    assert_eq!(EventId::new("E-1"), EventId::new("e-1"));
    assert_ne!(Address::new("Ärger"), Address::new("ärger"));
    assert_ne!(Address::new("Manager "), Address::MANAGER);
}

/// SUB-04: the well-known addresses have the names that a .NET peer knows them by.
#[test]
fn well_known_addresses_have_fixed_names() {
    let names = [
        (Address::RESOLVER, "Resolver"),
        (Address::MANAGER, "Manager"),
        (Address::CONTINUATION, "Continuation"),
        (Address::SELF, "self"),
        (Address::EVENT, "Event"),
        (Address::RETRY, "Retry"),
        (Address::DEFERRED_PROCESSOR, "DeferredProcessor"),
        (Address::DEFERRED, "Deferred"),
    ];
    for (address, name) in names {
        assert_eq!(address.as_str(), name);
    }
}

/// SUB-03: the body's shape, as a .NET peer writes and reads it.
#[test]
fn bodies_have_the_peers_shape() {
    let content = MessageContent {
        event_content: Some(EventContent {
            event_type_id: Some("OrderPlaced".to_owned()),
            event_json: Some(r#"{"total":1}"#.to_owned()),
        }),
        error_content: Some(ErrorContent {
            error_text: Some("no".to_owned()),
            error_type: Some("Refused".to_owned()),
            ..ErrorContent::default()
        }),
    };
    let json: serde_json::Value = serde_json::from_slice(&content.encode()).expect("it is JSON");
    let expected = serde_json::json!({
        "EventContent": {"EventTypeId": "OrderPlaced", "EventJson": "{\"total\":1}"},
        "ErrorContent": {
            "ErrorText": "no",
            "ErrorType": "Refused",
            "ExceptionStackTrace": null,
            "ExceptionSource": null,
        },
    });
    assert_eq!(json, expected);
    assert_eq!(MessageContent::decode(&content.encode()), Ok(content));
}

/// SUB-03: unknown members are ignored, absent and null ones are none.
#[test]
fn unknown_and_absent_members_of_a_body_are_ignored() {
    let body =
        br#"{"Version":2,"EventContent":{"EventTypeId":"A","Extra":[1]},"ErrorContent":null}"#;
    let content = MessageContent::decode(body).expect("it reads");
    let event = content.event_content.expect("it has an event");
    assert_eq!(event.event_type_id.as_deref(), Some("A"));
    assert_eq!(event.event_json, None);
    assert_eq!(content.error_content, None);
}

/// SUB-03: a missing, malformed or deeply nested body is refused, and the refusal never quotes it.
#[test]
fn malformed_bodies_are_refused_without_quoting_them() {
    assert_eq!(
        MessageContent::decode(b""),
        Err(MalformedMessage::EmptyBody)
    );
    let deep = format!(r#"{{"EventContent":{}{}}}"#, "[".repeat(32), "]".repeat(32));
    assert_eq!(
        MessageContent::decode(deep.as_bytes()),
        Err(MalformedMessage::TooDeep { limit: 32 })
    );
    for body in [
        &b"hunter2"[..],
        b"[\"hunter2\"]",
        b"{\"EventContent\":\"hunter2\"}",
        b"{\"EventContent\":{\"EventTypeId\":\"hunter2",
        b"\xff\xfehunter2",
    ] {
        let error = MessageContent::decode(body).expect_err("it is malformed");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

/// SUB-03: an event that is not what its handler takes says where, without quoting it.
#[test]
fn unreadable_events_say_where_without_quoting_them() {
    let content = EventContent {
        event_type_id: Some("OrderPlaced".to_owned()),
        event_json: Some(r#"{"total": "hunter2"}"#.to_owned()),
    };
    #[derive(Debug, serde::Deserialize)]
    struct OrderPlaced {
        #[expect(dead_code, reason = "only its type matters")]
        total: u32,
    }
    let error = content
        .event::<OrderPlaced>()
        .expect_err("a text is no number");
    let text = error.to_string();
    assert!(
        text.contains("OrderPlaced") && text.contains("line 1"),
        "{text}"
    );
    assert!(!text.contains("hunter2"), "{text}");
}

proptest! {
    /// SUB-05: no bytes make reading panic.
    #[test]
    fn reading_never_panics(
        body in proptest::collection::vec(any::<u8>(), 0..200),
        values in proptest::collection::vec(".{0,12}", 6),
    ) {
        let _ = MessageContent::decode(&body);
        let mut envelope = Envelope { body: body.into(), ..Envelope::default() };
        let names = [
            property::MESSAGE_TYPE, property::RETRY_COUNT, property::DEFERRAL_SEQUENCE,
            property::EXPECTED_BY, property::EVENT_ID, property::QUEUE_TIME_MS,
        ];
        for (name, value) in names.into_iter().zip(values) {
            envelope.properties.set(name, value);
        }
        let _ = Headers::read(&envelope);
    }
}
