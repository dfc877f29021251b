//! What a history comes to, however it arrives.

use fastrand::Rng;
use nimbus_messaging::MessageType;
use nimbus_resolver::{Applied, EventState, ReportKind, state_after};

use crate::support::{Fixture, Told, at};

/// SUB-10, SUB-11: an event fails, waits for its retry and completes; what it waits for is known,
/// and the history says what moved it.
#[tokio::test]
async fn an_event_that_is_retried_completes() {
    let fixture = Fixture::new().await;
    fixture
        .apply(Told::failed("a", 1, "no stock").retry_at(6))
        .await;
    let event = fixture.event("a").await;
    assert_eq!(event.state, EventState::RetryScheduled);
    assert_eq!(event.details.next_retry_at, Some(at(6)));
    assert_eq!(event.details.error_text.as_deref(), Some("no stock"));
    assert_eq!(event.message_id.as_deref(), Some("m-a"));

    let retried = Told::completed("a", 7).by(MessageType::RetryRequest);
    fixture
        .apply(retried.with(|headers| {
            headers.parent_message_id = Some("r-a".to_owned());
            headers.inbox_message_id = Some("m-a".to_owned());
            headers.retry_count = Some(1);
        }))
        .await;
    let event = fixture.event("a").await;
    assert_eq!(event.state, EventState::Completed);
    assert_eq!(event.state_since, at(7));
    assert_eq!((event.retry_count, event.reports), (Some(1), 2));
    assert_eq!(event.details.next_retry_at, None);
    let history = fixture.store.history(&event.key).await.unwrap();
    let moves: Vec<_> = history.iter().map(|entry| entry.moved_to).collect();
    assert_eq!(
        moves,
        [
            Some(EventState::RetryScheduled),
            Some(EventState::Completed)
        ]
    );
}

/// SUB-24: a report that comes again changes nothing, not even a count.
#[tokio::test]
async fn a_repeated_report_changes_nothing() {
    let fixture = Fixture::new().await;
    let reports = [
        Told::failed("a", 1, "no stock"),
        Told::duplicate("a", 2),
        Told::completed("a", 3).by(MessageType::ResubmissionRequest),
    ];
    for told in &reports {
        fixture.apply(told.clone()).await;
    }
    let before = fixture.event("a").await;
    assert_eq!((before.reports, before.duplicates), (3, 1));
    for told in &reports {
        let mut again = told.report();
        again.received_at = at(1_000);
        let applied = fixture.store.apply(vec![again]).await.unwrap();
        assert_eq!(applied, [Applied::Repeated]);
    }
    assert_eq!(fixture.event("a").await, before);
}

/// SUB-24: duplicates are counted and leave a completed event completed.
#[tokio::test]
async fn duplicates_only_count() {
    let fixture = Fixture::new().await;
    fixture.apply(Told::completed("a", 1)).await;
    for sent in 2..52 {
        fixture.apply(Told::duplicate("a", sent)).await;
    }
    let event = fixture.event("a").await;
    assert_eq!(event.state, EventState::Completed);
    assert_eq!((event.duplicates, event.reports), (50, 51));
}

/// SUB-11, SUB-13: an operator skips an event, and its late retry is answered with a resolution: it
/// stays skipped. One that is resubmitted afterwards completes.
#[tokio::test]
async fn a_skipped_event_is_completed_only_by_a_newer_attempt() {
    let fixture = Fixture::new().await;
    fixture
        .apply(Told::failed("a", 1, "no stock").retry_at(60))
        .await;
    let skipped = Told::outcome(MessageType::SkipResponse, "a", 2);
    fixture.apply(skipped.by(MessageType::SkipRequest)).await;
    assert_eq!(fixture.state("a").await, EventState::Skipped);
    let late = Told::completed("a", 61).by(MessageType::RetryRequest);
    fixture.apply(late).await;
    assert_eq!(fixture.state("a").await, EventState::Skipped);
    let again = Told::completed("a", 70).by(MessageType::ResubmissionRequest);
    fixture.apply(again).await;
    assert_eq!(fixture.state("a").await, EventState::Completed);
}

/// SUB-24, INB-40: a failure is reported, the process dies before the block, the redelivery succeeds
/// and dies before its report: the duplicate that is reported last tells that the event is done. One
/// of another message doesn't.
#[tokio::test]
async fn a_duplicate_of_what_failed_before_settles_it() {
    let fixture = Fixture::new().await;
    for (id, other) in [("a", false), ("b", true)] {
        fixture.apply(Told::failed(id, 1, "no stock")).await;
        let duplicate = Told::duplicate(id, 9).with(|headers| {
            if other {
                headers.parent_message_id = Some("another".to_owned());
            }
        });
        fixture.apply(duplicate).await;
    }
    assert_eq!(fixture.state("a").await, EventState::Duplicate);
    assert_eq!(fixture.state("b").await, EventState::Failed);
}

/// SUB-11, SUB-21: a retry is scheduled, the process dies before the block, and the redelivery is
/// dead-lettered: the answer to the retry, which runs nothing, leaves the event dead-lettered. A
/// retry that ran before does complete it.
#[tokio::test]
async fn a_late_retry_does_not_complete_what_was_dead_lettered() {
    let fixture = Fixture::new().await;
    for (id, parent) in [("a", "m-a"), ("b", "r-b")] {
        let retry = format!("r-{id}");
        let failed = Told::failed(id, 1, "no stock").retry_at(6);
        fixture.apply(failed).await;
        let set_aside = Told::failed(id, 2, "not readable").with(|headers| {
            headers.parent_message_id = Some(parent.to_owned());
            headers.dead_letter_reason = Some("Failed".to_owned());
        });
        fixture.apply(set_aside).await;
        assert_eq!(fixture.state(id).await, EventState::DeadLettered);
        let answer = Told::completed(id, 7).by(MessageType::RetryRequest);
        let answer = answer.with(|headers| headers.parent_message_id = Some(retry));
        fixture.apply(answer).await;
    }
    assert_eq!(fixture.state("a").await, EventState::DeadLettered);
    assert_eq!(fixture.state("b").await, EventState::Completed);
}

/// SUB-08: a receiver whose lock ran out reports a deferral that it can't carry out any more: what
/// its successor has dead-lettered stays so. One that is delivered again is deferred.
#[tokio::test]
async fn a_stale_deferral_does_not_hide_a_dead_letter() {
    let fixture = Fixture::new().await;
    let set_aside = Told::failed("a", 10, "not readable");
    let set_aside =
        set_aside.with(|headers| headers.dead_letter_reason = Some("Failed".to_owned()));
    fixture.apply(set_aside).await;
    let deferred = |sent| Told::outcome(MessageType::DeferralResponse, "a", sent);
    fixture.apply(deferred(12).took(5)).await;
    assert_eq!(fixture.state("a").await, EventState::DeadLettered);
    fixture.apply(deferred(20).took(5)).await;
    assert_eq!(fixture.state("a").await, EventState::Deferred);
}

/// SUB-12: a resubmission is pending until it is answered, and its answer counts as such also where
/// a peer doesn't say what it answers.
#[tokio::test]
async fn a_resubmission_is_pending_until_it_is_answered() {
    let fixture = Fixture::new().await;
    let resubmission = |id: &str, sent| {
        let message = format!("again-{id}");
        let told = Told::outcome(MessageType::ResubmissionRequest, id, sent);
        told.with(|headers| {
            headers.message_id = Some(message);
            headers.to = headers.from.take();
            headers.parent_message_id = None;
            headers.session_id = Some("s".to_owned());
        })
    };
    let answer = |id: &str, sent| {
        let message = format!("again-{id}");
        Told::completed(id, sent).with(|headers| {
            headers.parent_message_type = None;
            headers.parent_message_id = Some(message);
        })
    };
    for id in ["a", "b"] {
        let skipped = Told::outcome(MessageType::SkipResponse, id, 1);
        fixture.apply(skipped).await;
    }
    fixture.apply(resubmission("a", 2)).await;
    assert_eq!(fixture.state("a").await, EventState::Pending);
    fixture.apply(answer("a", 3)).await;
    assert_eq!(fixture.state("a").await, EventState::Completed);

    // The note can come after the answer.
    let answered = answer("b", 3).by(MessageType::ResubmissionRequest);
    fixture.apply(answered).await;
    fixture.apply(resubmission("b", 4)).await;
    assert_eq!(fixture.state("b").await, EventState::Completed);
}

/// SUB-12: a resubmission that fails ends no wait, also where a peer doesn't say what failed: the
/// scheduled retry still comes.
#[tokio::test]
async fn a_failed_resubmission_leaves_the_retry() {
    let fixture = Fixture::new().await;
    let scheduled = Told::failed("a", 1, "no stock").retry_at(60);
    fixture.apply(scheduled).await;
    let asked = Told::outcome(MessageType::ResubmissionRequest, "a", 2).with(|headers| {
        headers.message_id = Some("again".to_owned());
        headers.to = headers.from.take();
        headers.parent_message_id = None;
    });
    fixture.apply(asked).await;
    let failed = Told::failed("a", 3, "still none").with(|headers| {
        headers.parent_message_type = None;
        headers.parent_message_id = Some("again".to_owned());
    });
    fixture.apply(failed).await;
    let event = fixture.event("a").await;
    assert_eq!(event.state, EventState::RetryScheduled);
    assert_eq!(event.details.next_retry_at, Some(at(60)));
}

/// SUB-24: an attempt that began after the completion reopens the event, one that overlapped with
/// it does not, and neither does a deferral.
#[tokio::test]
async fn only_a_newer_attempt_reopens_a_completed_event() {
    let fixture = Fixture::new().await;
    fixture.apply(Told::completed("a", 10)).await;
    fixture.apply(Told::failed("a", 12, "stale").took(5)).await;
    assert_eq!(fixture.state("a").await, EventState::Completed);
    let deferred = Told::outcome(MessageType::DeferralResponse, "a", 13);
    fixture.apply(deferred).await;
    assert_eq!(fixture.state("a").await, EventState::Completed);
    fixture.apply(Told::failed("a", 20, "newer").took(5)).await;
    let event = fixture.event("a").await;
    assert_eq!(event.state, EventState::Failed);
    assert_eq!(event.details.error_text.as_deref(), Some("newer"));
}

/// SUB-04: endpoints and event ids ignore ASCII case; SUB-05: the ids of messages don't.
#[tokio::test]
async fn events_are_told_apart_as_the_wire_does() {
    let fixture = Fixture::new().await;
    fixture.apply(Told::failed("Order-A", 1, "x")).await;
    let other =
        Told::completed("ORDER-a", 2).with(|headers| headers.from = Some("billingendpoint".into()));
    fixture.apply(other).await;
    assert_eq!(fixture.event("order-a").await.reports, 2);
    for (sent, id) in [(3, "m-x"), (4, "M-X")] {
        let nameless = Told::failed("-", sent, "x").with(|headers| {
            headers.event_id = None;
            headers.parent_message_id = Some(id.to_owned());
        });
        fixture.apply(nameless).await;
    }
    for id in ["m-x", "M-X"] {
        let found = fixture.store.find(Some(ENDPOINT_IN_CAPITALS), id).await;
        assert_eq!(found.unwrap().len(), 1);
    }
}

const ENDPOINT_IN_CAPITALS: &str = "BILLINGENDPOINT";

/// A command that is noted makes no event of its own.
#[tokio::test]
async fn a_note_about_an_unknown_event_is_ignored() {
    let fixture = Fixture::new().await;
    let skip = Told::outcome(MessageType::SkipRequest, "a", 1)
        .with(|headers| headers.to = headers.from.take());
    let applied = fixture.store.apply(vec![skip.report()]).await.unwrap();
    assert_eq!(applied, [Applied::Ignored]);
    assert_eq!(fixture.find("a").await, None);
}

/// SUB-24: whatever order the reports of an event arrive in, it ends in the state of the order in
/// which they were sent, with the same error; and without a store as in one.
#[tokio::test]
async fn the_order_of_arrival_does_not_matter() {
    let fixture = Fixture::new().await;
    let mut rng = Rng::with_seed(7);
    let mut reports = Vec::new();
    let mut expected = Vec::new();
    for history in 0..60 {
        let steps: Vec<Told> = (1..=4).map(|at| any_report(&mut rng, 10 * at)).collect();
        for (number, order) in permutations(steps.len()).into_iter().enumerate() {
            let id = format!("{history}-{number}");
            let arrived = order.into_iter().map(|step| {
                let mut told = steps[step].clone();
                told.headers.event_id = Some(id.as_str().into());
                told.report()
            });
            let arrived: Vec<_> = arrived.collect();
            let state = state_after(&arrived);
            let twice = [arrived.as_slice(), &arrived].concat();
            assert_eq!(state_after(&twice), state);
            reports.extend(arrived);
            expected.push((history, id, state));
        }
    }
    let count = reports.len();
    let applied = fixture.store.apply(reports).await.unwrap();
    assert_eq!(applied.len(), count);
    assert_eq!(count, 60 * 24 * 4);

    let mut states = std::collections::BTreeSet::new();
    let mut of_history = None;
    for (history, id, state) in expected {
        let event = fixture.event(&id).await;
        assert_eq!(Some(event.state), state, "{id}");
        let found = (event.state, event.state_since, event.details, event.reports);
        states.insert(found.0);
        match &of_history {
            Some((last, in_order)) if *last == history => assert_eq!(&found, in_order, "{id}"),
            // The first permutation is the order in which they were sent.
            _ => of_history = Some((history, found)),
        }
    }
    assert!(states.len() > 7, "the histories are too alike: {states:?}");
}

fn any_report(rng: &mut Rng, sent: u64) -> Told {
    use MessageType as Type;
    let told = match rng.u8(0..9) {
        0 => Told::completed("x", sent),
        1 => Told::duplicate("x", sent),
        2 => Told::failed("x", sent, "failed").retry_at(sent + 5),
        3 => Told::failed("x", sent, "for good"),
        4 => Told::outcome(Type::DeferralResponse, "x", sent),
        5 => Told::outcome(Type::SkipResponse, "x", sent),
        6 => Told::outcome(Type::PendingHandoffResponse, "x", sent),
        7 => Told::outcome(Type::UnsupportedResponse, "x", sent),
        _ => Told::outcome(Type::SkipResponse, "x", sent).with_error("discarded"),
    };
    let by = [
        Type::EventRequest,
        Type::RetryRequest,
        Type::ResubmissionRequest,
        Type::SkipRequest,
    ];
    told.by(by[rng.usize(0..by.len())]).took(rng.i64(0..25))
}

/// Every order of `0..count`, the natural one first.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for _ in 0..count {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                let left = (0..count).filter(|next| !order.contains(next));
                left.map(|next| {
                    let mut longer = order.clone();
                    longer.push(next);
                    longer
                })
                .collect::<Vec<_>>()
            })
            .collect();
    }
    orders
}

/// SUB-10: what moved an event says so, and what did not is in its history all the same.
#[tokio::test]
async fn a_history_keeps_what_moved_nothing() {
    let fixture = Fixture::new().await;
    fixture.apply(Told::completed("a", 5)).await;
    fixture
        .apply(Told::failed("a", 1, "overtaken").retry_at(4))
        .await;
    let event = fixture.event("a").await;
    assert_eq!(event.state, EventState::Completed);
    let history = fixture.store.history(&event.key).await.unwrap();
    let told: Vec<_> = history
        .iter()
        .map(|entry| (entry.kind, entry.moved_to))
        .collect();
    assert_eq!(
        told,
        [
            (ReportKind::Completed, Some(EventState::Completed)),
            (ReportKind::RetryScheduled, Some(EventState::RetryScheduled)),
        ]
    );
}
