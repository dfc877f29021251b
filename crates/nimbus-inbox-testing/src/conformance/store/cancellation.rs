use std::time::Duration;

use futures_util::future::join_all;
use nimbus_inbox_core::{Cutoff, InboxKey, Recorded, Timestamp};

use super::subject::{Store, Subject, bound, expect, keys, named};
use super::{StoreCase, cases};
use crate::conformance::dropping::drop_after;
use crate::key;

pub(super) const CASES: &[StoreCase] = cases![Nothing:
    a_record_dropped_at_any_await_is_whole_or_absent,
    a_batch_dropped_at_any_await_is_whole_or_absent,
    a_check_dropped_at_any_await_changes_nothing,
    a_purge_dropped_at_any_await_removes_only_what_it_may,
    a_verification_dropped_at_any_await_can_be_repeated,
    dropped_calls_hold_up_no_others,
    a_good_call_follows_a_thousand_dropped_ones,
];

/// INB-25
async fn a_record_dropped_at_any_await_is_whole_or_absent(subject: Subject) {
    let store = subject.open().await;
    for polls in 0.. {
        let one = key("Billing", &format!("order-{polls}"));
        let batch = std::slice::from_ref(&one);
        let answer = drop_after(polls, store.0.record(batch)).await;
        let seen = store.check_one(&one).await;
        let again = store.record_one(&one).await;
        let created = store.created_at(&one).await;
        if let Some(seen) = seen {
            assert_eq!(again, Recorded::Already);
            assert_eq!(created, seen, "the dropped call's record was not whole");
        }
        let purged = purge_whole(&store, &one, created).await;
        assert_eq!(purged, 1, "records of one id, dropped after {polls} polls");
        if let Some(answer) = answer {
            assert_eq!(expect("an undisturbed record", answer), [Recorded::Now]);
            return;
        }
        still_works(&store, polls).await;
    }
}

/// A record without its endpoint or its time would escape the purge.
async fn purge_whole(store: &Store, one: &InboxKey, created: Timestamp) -> u64 {
    let cutoff = Cutoff::Before(created.saturating_add(Duration::from_millis(1)));
    store.purge(one.endpoint().as_str(), cutoff, 10).await
}

/// INB-15, INB-25
async fn a_batch_dropped_at_any_await_is_whole_or_absent(subject: Subject) {
    let store = subject.open().await;
    let atomic = store.0.capabilities().atomic_batches;
    for polls in 0.. {
        let batch = keys("Billing", &format!("stand-in-{polls}"), 3);
        let answer = drop_after(polls, store.0.record(&batch)).await;
        let finished = answer.is_some();
        if let Some(answer) = answer {
            assert_eq!(expect("an undisturbed batch", answer), [Recorded::Now; 3]);
        }
        let again = store.record(&batch).await;
        if atomic {
            let halved = again.iter().any(|answer| *answer != again[0]);
            assert!(
                !halved,
                "dropped after {polls} polls, a batch that becomes durable at once was recorded \
                 in part: repeating it says {again:?}"
            );
        }
        assert!(store.check(&batch).await.iter().all(Option::is_some));
        if finished {
            assert_eq!(again, [Recorded::Already; 3]);
            return;
        }
        still_works(&store, polls).await;
    }
}

/// INB-25
async fn a_check_dropped_at_any_await_changes_nothing(subject: Subject) {
    let store = subject.open().await;
    let [here, absent] = [key("Billing", "here"), key("Billing", "absent")];
    store.record_one(&here).await;
    let created = store.created_at(&here).await;
    let both = [here, absent];
    for polls in 0.. {
        let answer = drop_after(polls, store.0.check(&both)).await;
        assert_eq!(store.check(&both).await, [Some(created), None]);
        if let Some(answer) = answer {
            assert_eq!(
                expect("an undisturbed check", answer),
                [Some(created), None]
            );
            return;
        }
        still_works(&store, polls).await;
    }
}

/// INB-23, INB-25
async fn a_purge_dropped_at_any_await_removes_only_what_it_may(subject: Subject) {
    let store = subject.open().await;
    let endpoint = named("Billing");
    for polls in 0.. {
        let old = keys("Billing", &format!("old-{polls}"), 3);
        store.record(&old).await;
        let cutoff = Cutoff::Before(store.pass(store.created_at(&old[2]).await).await);
        let fresh = key("Billing", "fresh");
        store.record_one(&fresh).await;
        let purge = store.0.purge(&endpoint, cutoff, bound(10));
        let answer = drop_after(polls, purge).await;
        store.purge_all("Billing", cutoff).await;
        assert_eq!(store.check(&old).await, [None; 3]);
        let created = store.created_at(&fresh).await;
        if let Some(answer) = answer {
            assert_eq!(expect("an undisturbed purge", answer), 3);
            return;
        }
        still_works(&store, polls).await;
        store
            .purge_all("Billing", Cutoff::Before(store.pass(created).await))
            .await;
    }
}

/// INB-25, INB-27: also while it creates the schema.
async fn a_verification_dropped_at_any_await_can_be_repeated(subject: Subject) {
    for polls in 0.. {
        // A new handle, so that each has its first use before it.
        let store = subject.open().await;
        let answer = drop_after(polls, store.0.verify()).await;
        store.verify().await;
        still_works(&store, polls).await;
        if let Some(answer) = answer {
            expect("an undisturbed verification", answer);
            return;
        }
    }
}

/// INB-25: whoever does the work of others finishes it, or another takes over.
async fn dropped_calls_hold_up_no_others(subject: Subject) {
    let store = subject.open().await;
    for polls in 0..6 {
        let all = keys("Billing", &format!("order-{polls}"), 32);
        let calls = all.iter().enumerate().map(|(number, one)| {
            let dropped = number % 2 == 0;
            let polls = if dropped { polls } else { usize::MAX };
            let store = &store;
            async move {
                let answer = drop_after(polls, store.0.record(std::slice::from_ref(one))).await;
                assert!(dropped || answer.is_some());
                answer.map(|answer| expect("a record beside dropped ones", answer))
            }
        });
        for answer in join_all(calls).await.into_iter().flatten() {
            assert_eq!(answer, [Recorded::Now]);
        }
        for kept in all.iter().skip(1).step_by(2) {
            store.created_at(kept).await;
        }
    }
}

/// INB-25: nothing that a call waits for is lost with it, such as a pooled connection.
async fn a_good_call_follows_a_thousand_dropped_ones(subject: Subject) {
    let store = subject.open().await;
    for burst in 0..20 {
        let all = keys("Billing", &format!("dropped-{burst}"), 50);
        let calls = all.iter().enumerate().map(|(number, one)| {
            let (one, store) = (std::slice::from_ref(one), &store);
            // While they wait for their turn, or just after it came.
            let polls = 1 + number / 2 % 2;
            async move {
                if number % 2 == 0 {
                    drop_after(polls, store.0.check(one)).await.is_some()
                } else {
                    drop_after(polls, store.0.record(one)).await.is_some()
                }
            }
        });
        join_all(calls).await;
    }
    still_works(&store, 1).await;
}

/// The store serves on after calls that were dropped.
async fn still_works(store: &Store, polls: usize) {
    let one = key("After", &format!("drop-{polls}"));
    store.record_one(&one).await;
    let created = store.created_at(&one).await;
    assert_eq!(store.record_one(&one).await, Recorded::Already);
    assert_eq!(store.created_at(&one).await, created);
}
