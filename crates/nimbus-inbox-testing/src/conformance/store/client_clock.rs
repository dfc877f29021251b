use std::time::{Duration, SystemTime};

use nimbus_inbox_core::{Cutoff, Timestamp};

use super::subject::{Subject, keys};
use super::{StoreCase, cases};
use crate::{ManualClock, key};

pub(super) const CASES: &[StoreCase] = cases![ClientClock:
    a_clock_an_hour_off_shortens_no_retention,
    a_clock_an_hour_off_lengthens_no_retention,
];

const HOUR: Duration = Duration::from_secs(3_600);

fn an_hour_off() -> [(&'static str, ManualClock); 2] {
    let now = Timestamp::from(SystemTime::now());
    [
        ("ahead", ManualClock::at(now.saturating_add(HOUR))),
        ("behind", ManualClock::at(now.saturating_sub(HOUR))),
    ]
}

/// INB-23: one clock stamps the record and turns the age into the cutoff.
async fn a_clock_an_hour_off_shortens_no_retention(subject: Subject) {
    for (direction, clock) in an_hour_off() {
        let place = subject.elsewhere();
        let store = place.open_with_clock(clock).await;
        let all = keys("Billing", "order", 3);
        store.record(&all).await;
        let half_an_hour = Cutoff::OlderThan(HOUR / 2);
        let removed = store.purge("Billing", half_an_hour, 10).await;
        assert_eq!(removed, 0, "fresh records purged, clock {direction}");
        assert!(store.check(&all).await.iter().all(Option::is_some));
    }
}

/// INB-23
async fn a_clock_an_hour_off_lengthens_no_retention(subject: Subject) {
    // More calls than any clock needs for its smallest step; minutes, not an hour.
    const CALLS: u32 = 1_000;
    for (direction, clock) in an_hour_off() {
        let place = subject.elsewhere();
        let store = place.open_with_clock(clock.clone()).await;
        let one = key("Billing", "order-1");
        store.record_one(&one).await;
        let none = Cutoff::OlderThan(Duration::ZERO);
        let mut removed = 0;
        for _ in 0..CALLS {
            clock.advance(Duration::from_millis(100));
            removed = store.purge("Billing", none, 10).await;
            if removed > 0 {
                break;
            }
        }
        assert_eq!(removed, 1, "old records purged, clock {direction}");
        assert_eq!(store.check_one(&one).await, None);
    }
}
