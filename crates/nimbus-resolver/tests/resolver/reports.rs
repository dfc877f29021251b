//! What messages tell.

use nimbus_messaging::{Address, Envelope, MessageType, property};
use nimbus_resolver::{Cause, Report, ReportKind, Subject, UnusableReport};

use crate::support::{Told, at};

fn kind(told: &Told) -> ReportKind {
    told.report().kind
}

/// SUB-24: every outcome reads as what the subscriber means by it.
#[test]
fn outcomes_say_what_happened() {
    use MessageType as Type;
    let outcome = |message_type| Told::outcome(message_type, "a", 1);
    let plain = [
        (Type::ResolutionResponse, ReportKind::Completed),
        (Type::DeferralResponse, ReportKind::Deferred),
        (Type::UnsupportedResponse, ReportKind::Unsupported),
        (Type::PendingHandoffResponse, ReportKind::PendingHandoff),
        (Type::SkipResponse, ReportKind::Skipped),
        (Type::ErrorResponse, ReportKind::Failed),
    ];
    for (message_type, expected) in plain {
        assert_eq!(kind(&outcome(message_type)), expected, "{message_type}");
    }
    assert_eq!(kind(&Told::duplicate("a", 1)), ReportKind::Duplicate);
    let discarded = outcome(Type::SkipResponse).with_error("X: y Classified as Discard by z.");
    assert_eq!(kind(&discarded), ReportKind::Discarded);
    let retried = Told::failed("a", 1, "no stock").retry_at(6);
    assert_eq!(kind(&retried), ReportKind::RetryScheduled);
    let dead = Told::failed("a", 1, "never")
        .with(|headers| headers.dead_letter_reason = Some("HandlerFailed".to_owned()));
    assert_eq!(kind(&dead), ReportKind::DeadLettered);
}

/// SUB-12, SUB-13, SUB-15: a command that was refused says nothing of the event it names.
#[test]
fn a_refused_command_is_no_dead_letter_of_its_event() {
    let refused = |reason: &str, by| {
        let reason = reason.to_owned();
        let told = Told::failed("a", 1, "no").by(by);
        kind(&told.with(|headers| headers.dead_letter_reason = Some(reason)))
    };
    let skip = refused("MalformedMessage", MessageType::SkipRequest);
    assert_eq!(skip, ReportKind::Refused);
    let forged = refused("NotFromManager", MessageType::ResubmissionRequest);
    assert_eq!(forged, ReportKind::Refused);
}

/// SUB-24: an outcome says what kind of message it is about; a peer's retry is known by its count.
#[test]
fn causes_are_read_or_inferred() {
    let cause = |told: Told| told.report().cause;
    let about = |by| cause(Told::completed("a", 1).by(by));
    assert_eq!(about(MessageType::EventRequest), Cause::Event);
    assert_eq!(about(MessageType::RetryRequest), Cause::Retry);
    assert_eq!(about(MessageType::ResubmissionRequest), Cause::Resubmission);
    assert_eq!(about(MessageType::HandoffCompletedRequest), Cause::Command);
    let of_a_peer = |count| {
        cause(Told::completed("a", 1).with(|headers| {
            headers.parent_message_type = None;
            headers.retry_count = count;
        }))
    };
    assert_eq!(of_a_peer(None), Cause::Unknown);
    assert_eq!(of_a_peer(Some(0)), Cause::Unknown);
    assert_eq!(of_a_peer(Some(2)), Cause::Retry);
}

/// SUB-05: an event without an id is known by the message that brought it.
#[test]
fn without_an_event_id_the_message_names_the_event() {
    let told = |source: Option<&str>| {
        let source = source.map(str::to_owned);
        let told = Told::failed("a", 1, "unreadable").with(|headers| {
            headers.event_id = None;
            headers.inbox_message_id = source;
        });
        told.report().key.subject
    };
    assert_eq!(told(None), Subject::Message("m-a".to_owned()));
    assert_eq!(told(Some("m-0")), Subject::Message("m-0".to_owned()));
}

/// SUB-03, SUB-05: what can't be used says why, and never panics.
#[test]
fn unusable_messages_say_why() {
    let read = |envelope: &Envelope| Report::read(envelope, None, at(0));
    let error = read(&Envelope::default()).unwrap_err();
    assert_eq!(error, UnusableReport::UnknownMessageType);

    let nobody = Told::completed("a", 1).with(|headers| headers.from = None);
    let message_type = MessageType::ResolutionResponse;
    let error = read(&nobody.envelope()).unwrap_err();
    assert_eq!(error, UnusableReport::NoEndpoint { message_type });

    let nothing = Told::completed("a", 1).with(|headers| {
        headers.event_id = None;
        headers.parent_message_id = None;
        headers.message_id = None;
    });
    let error = read(&nothing.envelope()).unwrap_err();
    assert_eq!(error, UnusableReport::NoSubject { message_type });

    let mut broken = Told::completed("a", 1).envelope();
    broken.body = "{".into();
    let error = read(&broken).unwrap_err();
    assert!(matches!(error, UnusableReport::Malformed(_)), "{error}");
    broken.properties.set(property::RETRY_COUNT, "many");
    let error = read(&broken).unwrap_err().to_string();
    assert!(error.contains("RetryCount"), "{error}");
}

/// SUB-18: what is about a session tells nothing of an event.
#[test]
fn drains_tell_of_no_event() {
    for message_type in [
        MessageType::ProcessDeferredRequest,
        MessageType::ContinuationRequest,
    ] {
        let told = Told::outcome(message_type, "a", 1);
        assert_eq!(Report::read(&told.envelope(), None, at(0)), Ok(None));
    }
}

/// SUB-34: a report without a message id gets one that is the same in each of its deliveries.
#[test]
fn a_report_without_an_id_is_recognised_all_the_same() {
    let told = |error: &str| {
        let told = Told::failed("a", 1, error).with(|headers| headers.message_id = None);
        told.envelope()
    };
    let id = |envelope: &Envelope, arrived| {
        let report = Report::read(envelope, Some(at(1)), at(arrived));
        report.unwrap().unwrap().message_id
    };
    assert_eq!(id(&told("x"), 2), id(&told("x"), 9));
    assert_ne!(id(&told("x"), 2), id(&told("y"), 2));
}

/// SUB-04: what is copied to the resolver on its way to an endpoint is about that endpoint.
#[test]
fn a_request_is_about_its_receiver() {
    let told = Told::outcome(MessageType::ResubmissionRequest, "a", 1).with(|headers| {
        headers.from = Some(Address::MANAGER);
        headers.to = Some(Address::from("Shipping"));
    });
    let report = told.report();
    assert_eq!(report.key.endpoint, Address::from("Shipping"));
    assert_eq!(report.kind, ReportKind::Resubmitted);
}
