use nimbus_inbox_core::Recorded;

use super::subject::{Subject, at_once};
use super::{StoreCase, cases};
use crate::key;

pub(super) const CASES: &[StoreCase] = cases![Nothing:
    the_provider_has_a_name_for_metrics,
    a_store_serves_before_it_was_verified,
    verifying_again_changes_nothing,
    sixteen_stores_have_their_first_use_at_once,
];

/// INB-37: a bounded attribute.
async fn the_provider_has_a_name_for_metrics(subject: Subject) {
    let name = subject.open().await.0.provider();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    assert!(
        !name.is_empty() && name.len() <= 32 && name.chars().all(fits),
        "{name:?} is no short name in lower-case ASCII"
    );
    assert_eq!(subject.open().await.0.provider(), name);
}

/// INB-27
async fn a_store_serves_before_it_was_verified(subject: Subject) {
    let store = subject.open().await;
    let one = key("Billing", "order-1");
    assert_eq!(store.check_one(&one).await, None);
    assert_eq!(store.record_one(&one).await, Recorded::Now);
}

/// INB-27, INB-32
async fn verifying_again_changes_nothing(subject: Subject) {
    let store = subject.open().await;
    let one = key("Billing", "order-1");
    store.verify().await;
    assert_eq!(store.record_one(&one).await, Recorded::Now);
    let created = store.created_at(&one).await;
    for again in [store, subject.open().await] {
        again.verify().await;
        again.verify().await;
        assert_eq!(again.check_one(&one).await, Some(created));
    }
}

/// INB-27
async fn sixteen_stores_have_their_first_use_at_once(subject: Subject) {
    let calls = (0..16).map(|number| {
        let subject = subject.clone();
        async move {
            let store = subject.open().await;
            // Half of them create the schema through the record itself.
            if number % 2 == 0 {
                store.verify().await;
            }
            let own = key("Billing", &format!("own-{number}"));
            assert_eq!(store.record_one(&own).await, Recorded::Now);
            store.record_one(&key("Billing", "common")).await
        }
    });
    let common = at_once(calls).await;
    let created = common.iter().filter(|answer| answer.is_now()).count();
    assert_eq!(created, 1, "stores that say they created the common record");
    let store = subject.open().await;
    for number in 0..16 {
        store
            .created_at(&key("Billing", &format!("own-{number}")))
            .await;
    }
}
