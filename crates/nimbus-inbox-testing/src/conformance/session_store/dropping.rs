//! Callers that give up while a copy is parked or removed.

use super::under_test::{SessionUnderTest, copy, counting, names, written};
use super::{SessionCase, cases};
use crate::conformance::answers::expect;
use crate::conformance::dropping::drop_after;

pub(super) const CASES: &[SessionCase] = cases![
    parking_dropped_at_any_await_counts_no_copy_that_is_not_there,
    unparking_dropped_at_any_await_removes_no_copy_that_is_not_settled,
];

/// SUB-35: copy first, then state.
async fn parking_dropped_at_any_await_counts_no_copy_that_is_not_there(held: SessionUnderTest) {
    let mut version = held.fence().await.version;
    let atomic = held.store.capabilities().atomic;
    for polls in 0.. {
        let sequence = i64::try_from(polls).expect("few polls");
        let (parked, counted) = (copy(sequence, "m"), counting(sequence + 1));
        let call = held.store.park(&held.session, &parked, &counted, version);
        let answer = drop_after(polls, call).await;
        // The fence shuts out what may still be under way.
        let fenced = held.fence().await;
        version = fenced.version;
        let is_counted = fenced.state == counted;
        let is_parked = names(&held.parked().await).contains(&(sequence, "m"));
        assert!(is_parked || !is_counted, "dropped after {polls} polls");
        if atomic {
            assert_eq!(is_parked, is_counted, "dropped after {polls} polls");
        }
        if let Some(answer) = answer {
            written(expect("undisturbed parking", answer));
            assert!(is_counted);
            return;
        }
    }
}

/// SUB-18: state first, then removal.
async fn unparking_dropped_at_any_await_removes_no_copy_that_is_not_settled(
    held: SessionUnderTest,
) {
    let mut version = held.fence().await.version;
    let atomic = held.store.capabilities().atomic;
    for polls in 0.. {
        let sequence = i64::try_from(polls).expect("few polls");
        let settled = counting(-1 - sequence);
        version = held.park(&copy(sequence, "m"), &counting(1), version).await;
        let parked = held.parked().await;
        let last = parked.last().expect("a copy was parked").reference.clone();
        let call = held.store.unpark(&held.session, &last, &settled, version);
        let answer = drop_after(polls, call).await;
        let fenced = held.fence().await;
        version = fenced.version;
        let is_settled = fenced.state == settled;
        let is_parked = names(&held.parked().await).contains(&(sequence, "m"));
        assert!(is_parked || is_settled, "dropped after {polls} polls");
        if atomic {
            assert_eq!(is_parked, !is_settled, "dropped after {polls} polls");
        }
        if let Some(answer) = answer {
            written(expect("undisturbed unparking", answer));
            assert!(!is_parked);
            return;
        }
    }
}
