use nimbus_inbox_core::Recorded::{Already, Now};

use super::subject::{Subject, at_once, keys};
use super::{StoreCase, cases};
use crate::key;

pub(super) const CASES: &[StoreCase] = cases![Nothing:
    answers_stand_in_the_order_of_the_keys,
    a_key_twice_in_one_batch_is_recorded_by_its_first,
    an_empty_batch_answers_nothing,
    one_batch_spans_endpoints,
    a_thousand_keys_fit_one_batch,
    overlapping_batches_record_each_key_once,
];

/// INB-24
async fn answers_stand_in_the_order_of_the_keys(subject: Subject) {
    let store = subject.open().await;
    let all = keys("Billing", "order", 6);
    let old = [all[4].clone(), all[1].clone()];
    assert_eq!(store.record(&old).await, [Now, Now]);

    let found = store.check(&all).await;
    let present: Vec<_> = found.iter().map(Option::is_some).collect();
    assert_eq!(present, [false, true, false, false, true, false]);
    let expected = [Now, Already, Now, Now, Already, Now];
    assert_eq!(store.record(&all).await, expected);

    // The times tell the answers apart, which their presence can't any more.
    let mut turned = all.clone();
    turned.reverse();
    let mut times = store.check(&turned).await;
    times.reverse();
    assert_eq!(times, store.check(&all).await);
    for (one, time) in all.iter().zip(times) {
        assert_eq!(store.check_one(one).await, time);
    }
}

/// INB-24
async fn a_key_twice_in_one_batch_is_recorded_by_its_first(subject: Subject) {
    let store = subject.open().await;
    let [a, b] = [key("Billing", "a"), key("Billing", "b")];
    let batch = [a.clone(), b.clone(), a.clone(), a.clone(), b.clone()];
    assert_eq!(store.check(&batch).await, [None; 5]);
    let expected = [Now, Now, Already, Already, Already];
    assert_eq!(store.record(&batch).await, expected);
    let found = store.check(&batch).await;
    assert_eq!(
        [found[0], found[0], found[1]],
        [found[2], found[3], found[4]]
    );
    assert!(found.iter().all(Option::is_some));
    assert_eq!(store.record(&batch).await, [Already; 5]);
}

/// INB-24
async fn an_empty_batch_answers_nothing(subject: Subject) {
    let store = subject.open().await;
    assert_eq!(store.check(&[]).await, []);
    assert_eq!(store.record(&[]).await, []);
}

/// INB-22, INB-24
async fn one_batch_spans_endpoints(subject: Subject) {
    let store = subject.open().await;
    let batch = ["Billing", "Shipping", "Ledger"].map(|endpoint| key(endpoint, "order-1"));
    assert_eq!(store.record_one(&batch[1]).await, Now);
    assert_eq!(store.record(&batch).await, [Now, Already, Now]);
    assert!(store.check(&batch).await.iter().all(Option::is_some));
}

/// INB-24: more parameters than one statement holds on some engines.
async fn a_thousand_keys_fit_one_batch(subject: Subject) {
    let store = subject.open().await;
    let all = keys("Billing", "order", 1_000);
    assert!(store.record(&all).await.iter().all(|answer| *answer == Now));
    assert!(store.check(&all).await.iter().all(Option::is_some));
    let again = store.record(&all).await;
    assert!(again.iter().all(|answer| *answer == Already));
}

/// INB-21, INB-24: batches that lock the same keys in different orders don't fail each other.
async fn overlapping_batches_record_each_key_once(subject: Subject) {
    let (here, there) = (subject.open().await, subject.open().await);
    let all = keys("Billing", "order", 32);
    let calls = (0..8).map(|number| {
        let store = if number % 2 == 0 { &here } else { &there }.clone();
        let mut batch = all.clone();
        batch.rotate_left(number * 4);
        if number % 2 == 0 {
            batch.reverse();
        }
        async move {
            let answers = store.record(&batch).await;
            let now = batch.into_iter().zip(answers);
            now.filter(|(_, answer)| answer.is_now())
                .map(|(key, _)| key)
                .collect::<Vec<_>>()
        }
    });
    let created: Vec<_> = at_once(calls).await.into_iter().flatten().collect();
    for one in &all {
        let times = created.iter().filter(|key| *key == one).count();
        assert_eq!(times, 1, "calls that say they created {one:?}");
    }
}
