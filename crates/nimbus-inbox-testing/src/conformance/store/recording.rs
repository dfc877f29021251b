use nimbus_inbox_core::Recorded;

use super::subject::{Subject, at_once, keys};
use super::{StoreCase, cases};
use crate::key;

pub(super) const CASES: &[StoreCase] = cases![Nothing:
    a_check_turns_true_with_the_record,
    a_repeated_record_keeps_the_first_creation_time,
    of_64_concurrent_records_one_is_now,
    another_handle_sees_the_record_at_once,
    creation_times_grow,
];

/// INB-21
async fn a_check_turns_true_with_the_record(subject: Subject) {
    let store = subject.open().await;
    let one = key("Billing", "order-1");
    assert_eq!(
        store.check_one(&one).await,
        None,
        "recorded before anything was"
    );
    assert_eq!(store.record_one(&one).await, Recorded::Now);
    store.created_at(&one).await;
    let other = key("Billing", "order-2");
    assert_eq!(store.check_one(&other).await, None, "recorded with another");
}

/// INB-21
async fn a_repeated_record_keeps_the_first_creation_time(subject: Subject) {
    let store = subject.open().await;
    let one = key("Billing", "order-1");
    store.record_one(&one).await;
    let first = store.created_at(&one).await;
    store.pass(first).await;
    for handle in [store, subject.open().await] {
        assert_eq!(handle.record_one(&one).await, Recorded::Already);
        let now = handle.created_at(&one).await;
        assert_eq!(now, first, "a repeated record moved the creation time");
    }
}

/// INB-21
async fn of_64_concurrent_records_one_is_now(subject: Subject) {
    let mut handles = Vec::new();
    for _ in 0..4 {
        handles.push(subject.open().await);
    }
    for one in keys("Billing", "order", 8) {
        let calls = (0..64).map(|number| {
            let (store, one) = (handles[number % handles.len()].clone(), one.clone());
            async move { (store.record_one(&one).await, store.created_at(&one).await) }
        });
        let answers = at_once(calls).await;
        let now = answers.iter().filter(|(recorded, _)| recorded.is_now());
        assert_eq!(now.count(), 1, "calls that say they created the record");
        let times_differ = answers.iter().any(|(_, time)| *time != answers[0].1);
        assert!(!times_differ, "callers saw different creation times");
    }
}

/// INB-21
async fn another_handle_sees_the_record_at_once(subject: Subject) {
    let (here, there) = (subject.open().await, subject.open().await);
    for (number, one) in keys("Billing", "order", 20).iter().enumerate() {
        let (writer, reader) = match number % 2 {
            0 => (&here, &there),
            _ => (&there, &here),
        };
        assert_eq!(reader.check_one(one).await, None);
        assert_eq!(writer.record_one(one).await, Recorded::Now);
        let seen = reader.created_at(one).await;
        assert_eq!(seen, writer.created_at(one).await);
    }
}

/// INB-21, INB-23: ages are told from creation times, so they must follow the clock.
async fn creation_times_grow(subject: Subject) {
    let store = subject.open().await;
    let [early, late] = [key("Billing", "early"), key("Billing", "late")];
    store.record_one(&early).await;
    let first = store.created_at(&early).await;
    let passed = store.pass(first).await;
    store.record_one(&late).await;
    assert!(store.created_at(&late).await >= passed);
}
