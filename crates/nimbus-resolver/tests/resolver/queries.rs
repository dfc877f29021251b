//! What the tool asks.

use std::num::NonZeroU32;

use nimbus_messaging::{EventReference, MessageType};
use nimbus_resolver::{EventFilter, EventState, ResolverErrorKind, ResolverStore};

use crate::support::{ENDPOINT, Fixture, Told, at};

async fn some_events() -> Fixture {
    let fixture = Fixture::new().await;
    for number in 0..5_u64 {
        fixture
            .apply(Told::failed(
                &format!("f-{number}"),
                10 + number,
                "no 100% stock",
            ))
            .await;
    }
    for number in 0..3_u64 {
        let told = Told::completed(&format!("c-{number}"), 20 + number).with(|headers| {
            headers.event_type_id = Some("OrderPaid".to_owned());
            headers.original_session_id = Some("other".to_owned());
        });
        fixture.apply(told).await;
    }
    let elsewhere =
        Told::completed("f-0", 30).with(|headers| headers.from = Some("Shipping".into()));
    fixture.apply(elsewhere).await;
    fixture
}

async fn found(fixture: &Fixture, filter: EventFilter) -> Vec<String> {
    let page = fixture.store.events(filter, None, 100).await.unwrap();
    let events = page.events.iter();
    events
        .map(|event| event.key.subject.as_str().to_owned())
        .collect()
}

#[tokio::test]
async fn events_are_filtered_and_the_last_heard_of_come_first() {
    let fixture = some_events().await;
    let all = EventFilter::default;
    let here = || all().with_endpoint(&ENDPOINT.to_uppercase());
    assert_eq!(found(&fixture, all()).await.len(), 9);
    assert_eq!(
        found(&fixture, here()).await,
        ["c-2", "c-1", "c-0", "f-4", "f-3", "f-2", "f-1", "f-0"]
    );
    let failed = here().with_states([EventState::Failed, EventState::Deferred]);
    assert_eq!(found(&fixture, failed).await.len(), 5);
    let paid = all().with_event_type("OrderPaid");
    assert_eq!(found(&fixture, paid).await.len(), 3);
    let session = all().with_session("other").with_since(at(21));
    assert_eq!(found(&fixture, session).await, ["c-2", "c-1"]);
    for text in ["100% STOCK", "f-3", r#""order":"f-3""#] {
        let filter = all().with_text(text).with_states([EventState::Failed]);
        assert!(
            found(&fixture, filter).await.contains(&"f-3".to_owned()),
            "{text}"
        );
    }
    for text in ["100_ stock", "10%0"] {
        assert_eq!(found(&fixture, all().with_text(text)).await, [""; 0]);
    }
}

/// The event id of a CloudEvent is a hash; an operator has its own id and source.
#[tokio::test]
async fn a_cloud_event_is_found_by_its_own_id() {
    let fixture = some_events().await;
    let told = Told::failed("hash", 40, "no stock").with(|headers| {
        headers.cloud_event_id = Some("4711-placed".to_owned());
        headers.cloud_event_source = Some("https://shop.example/orders".to_owned());
    });
    fixture.apply(told).await;
    for text in ["4711-placed", "shop.example"] {
        let filter = EventFilter::default().with_text(text);
        assert_eq!(found(&fixture, filter).await, ["hash"], "{text}");
    }
}

/// Whoever looks makes neither a file nor tables.
#[tokio::test]
async fn a_database_that_is_not_there_is_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("resolver.db");
    let missing = ResolverStore::open_existing(&path).await.unwrap_err();
    assert_eq!(missing.kind(), ResolverErrorKind::Configuration);
    assert!(
        missing
            .to_string()
            .contains("there is no resolver database")
    );
    assert!(!path.exists());
    std::fs::write(&path, "").unwrap();
    let empty = ResolverStore::open_existing(&path).await.unwrap_err();
    assert!(
        empty.to_string().contains("a required table is missing"),
        "{empty}"
    );
    drop(ResolverStore::open(&path).await.unwrap());
    assert!(ResolverStore::open_existing(&path).await.is_ok());
}

#[tokio::test]
async fn pages_follow_each_other_without_gap_or_repeat() {
    let fixture = some_events().await;
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let filter = EventFilter::default();
        let page = fixture.store.events(filter, after, 2).await.unwrap();
        assert!(page.events.len() <= 2);
        seen.extend(page.events.into_iter().map(|event| event.key));
        let Some(next) = page.next else { break };
        after = Some(next.to_string().parse().unwrap());
    }
    assert_eq!(seen.len(), 9);
    let distinct: std::collections::HashSet<_> = seen.iter().collect();
    assert_eq!(distinct.len(), 9);
}

#[tokio::test]
async fn states_are_counted_by_endpoint() {
    let fixture = some_events().await;
    fixture.apply(Told::duplicate("c-0", 40)).await;
    let counts = fixture.store.counts(EventFilter::default()).await.unwrap();
    let told: Vec<_> = counts
        .iter()
        .map(|count| {
            (
                count.endpoint.as_str(),
                count.state,
                count.events,
                count.duplicates,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (ENDPOINT, EventState::Completed, 3, 1),
            (ENDPOINT, EventState::Failed, 5, 0),
            ("Shipping", EventState::Completed, 1, 0),
        ]
    );
}

/// SUB-28: what the resolver keeps of an event is enough to command it.
#[tokio::test]
async fn an_event_can_be_resubmitted_from_what_is_kept() {
    let fixture = Fixture::new().await;
    let told = Told::failed("a", 1, "no stock").with(|headers| {
        headers.correlation_id = Some("c-1".to_owned());
        headers.originating_message_id = Some("m-0".to_owned());
        headers.originating_from = Some("Shop".to_owned());
        headers.cloud_event_id = Some("ce".to_owned());
    });
    fixture.apply(told.clone()).await;
    let event = fixture.event("a").await;
    assert_eq!(event.content, told.content.event_content);
    let mut outcome = told.headers;
    outcome.parent_message_id = None;
    assert_eq!(
        event.reference(),
        Some(EventReference::of_outcome(&outcome))
    );
}

/// INB-16, SUB-24: what became of a message, and how many duplicates of it were seen.
#[tokio::test]
async fn a_message_is_found_by_its_id_and_by_what_stood_in_for_it() {
    let fixture = Fixture::new().await;
    fixture
        .apply(Told::failed("a", 1, "no stock").retry_at(6))
        .await;
    let retried = Told::completed("a", 7).by(MessageType::RetryRequest);
    fixture
        .apply(retried.with(|headers| {
            headers.parent_message_id = Some("r-a".to_owned());
            headers.inbox_message_id = Some("m-a".to_owned());
        }))
        .await;
    fixture.apply(Told::duplicate("a", 8)).await;
    let traces = fixture.store.message(ENDPOINT, "m-a").await.unwrap();
    assert_eq!(traces.len(), 1);
    assert_eq!(traces[0].event.duplicates, 1);
    assert_eq!(traces[0].reports.len(), 3);
    let of_retry = fixture.store.message(ENDPOINT, "r-a").await.unwrap();
    assert_eq!(of_retry[0].reports.len(), 1);
    assert_eq!(fixture.store.message(ENDPOINT, "m-b").await.unwrap(), []);
    // A second message of the same event, which only a parked copy of it told of.
    let copy = Told::duplicate("a", 9).with(|headers| {
        headers.parent_message_id = Some("copy".to_owned());
        headers.inbox_message_id = Some("m-a-2".to_owned());
    });
    fixture.apply(copy).await;
    let second = fixture.store.message(ENDPOINT, "m-a-2").await.unwrap();
    assert_eq!(second[0].reports.len(), 1);
    assert_eq!(fixture.store.message("Shipping", "m-a").await.unwrap(), []);
}

/// Settled events go once they are old; what waits for anything stays, and so does what is young.
#[tokio::test]
async fn a_purge_removes_old_settled_events_with_their_histories() {
    let fixture = some_events().await;
    let limit = NonZeroU32::new(2).unwrap();
    let purged = fixture.store.purge(at(23), limit).await.unwrap();
    assert_eq!((purged.events, purged.reports), (2, 2));
    let purged = fixture.store.purge(at(23), limit).await.unwrap();
    assert_eq!((purged.events, purged.reports), (1, 1));
    assert_eq!(fixture.find("c-2").await, None);
    let left = fixture.store.counts(EventFilter::default()).await.unwrap();
    let left: Vec<_> = left
        .iter()
        .map(|count| (count.state, count.events))
        .collect();
    assert_eq!(left, [(EventState::Failed, 5), (EventState::Completed, 1)]);
}

/// The settled states are those that a purge removes.
#[tokio::test]
async fn every_settled_state_is_purged_and_no_other() {
    let fixture = Fixture::new().await;
    let outcome = |message_type, id| Told::outcome(message_type, id, 1);
    let told = [
        Told::completed("1", 1),
        outcome(MessageType::SkipResponse, "2"),
        outcome(MessageType::SkipResponse, "3").with_error("discarded"),
        Told::duplicate("4", 1),
        Told::failed("5", 1, "x"),
        Told::failed("6", 1, "x").retry_at(2),
        outcome(MessageType::DeferralResponse, "7"),
        outcome(MessageType::PendingHandoffResponse, "8"),
        outcome(MessageType::UnsupportedResponse, "9"),
        Told::failed("10", 1, "x").with(|h| h.dead_letter_reason = Some("y".to_owned())),
    ];
    for told in told {
        fixture.apply(told).await;
    }
    let all = NonZeroU32::new(100).unwrap();
    let purged = fixture.store.purge(at(100), all).await.unwrap();
    let left = fixture
        .store
        .events(EventFilter::default(), None, 100)
        .await;
    let left = left.unwrap().events;
    assert_eq!((purged.events, left.len()), (4, 6));
    assert!(left.iter().all(|event| !event.state.is_settled()));
}
