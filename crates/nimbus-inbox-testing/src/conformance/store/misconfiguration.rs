use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Cutoff, Error, ErrorKind, InboxStore, Operation};

use super::subject::{Subject, bound, named};
use super::{StoreCase, cases};
use crate::key;

pub(super) const CASES: &[StoreCase] = cases![Misconfiguration:
    every_call_answers_a_configuration_error,
];

/// INB-26, INB-32: nobody takes a wrong set-up for "not processed", or retries it for ever.
async fn every_call_answers_a_configuration_error(subject: Subject) {
    let store: Arc<dyn InboxStore> = match subject.open_misconfigured().await {
        Ok(store) => store,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Configuration, "{error:?}");
            return;
        }
    };
    let provider = store.provider();
    let batch = [key("Billing", "order-1")];
    let cutoff = Cutoff::OlderThan(Duration::ZERO);
    judge(store.verify().await, Operation::Verify, provider);
    judge(store.check(&batch).await, Operation::Check, provider);
    judge(store.record(&batch).await, Operation::Record, provider);
    let purged = store.purge(&named("Billing"), cutoff, bound(10)).await;
    judge(purged, Operation::Purge, provider);
    judge(store.verify().await, Operation::Verify, provider);
}

fn judge<T>(result: Result<T, Error>, operation: Operation, provider: &str) {
    let Err(error) = result else {
        panic!("the {operation} call of a misconfigured store succeeded");
    };
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error:?}");
    assert_eq!(error.operation(), operation, "{error:?}");
    assert_eq!(error.provider(), Some(provider), "{error:?}");
}
