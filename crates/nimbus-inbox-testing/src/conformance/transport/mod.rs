//! The transport contract, case by case: one file per subject.

mod cancellation;
mod content;
mod cutting;
mod deferral;
mod locks;
mod macros;
mod names;
mod ordering;
mod parking;
mod racing;
mod redelivery;
mod scheduling;
mod sending;
mod session_state;
mod settling;
mod stopping;
mod subject;
mod suite;
mod under_test;

use futures_util::future::BoxFuture;

pub use suite::TransportConformance;
pub use under_test::{DeadLettered, TransportUnderTest};

use subject::Subject;
use suite::Need;

/// A case of the suite.
struct TransportCase {
    name: &'static str,
    need: Need,
    body: fn(Subject) -> BoxFuture<'static, ()>,
}

/// Every case, by subject.
const CASES: &[(&str, &[TransportCase])] = &[
    ("ordering", ordering::CASES),
    ("ordering", ordering::SESSION_LANE_CASES),
    ("ordering", ordering::SHARED_LANE_CASES),
    ("content", content::CASES),
    ("names", names::CASES),
    ("names", names::SESSION_LANE_CASES),
    ("sending", sending::CASES),
    ("redelivery", redelivery::CASES),
    ("locks", locks::CASES),
    ("racing", racing::CASES),
    ("stopping", stopping::CASES),
    ("settling", settling::CASES),
    ("settling", settling::DEAD_LETTER_CASES),
    ("settling", settling::LIMIT_CASES),
    ("cancellation", cancellation::CASES),
    ("scheduling", scheduling::CASES),
    ("scheduling", scheduling::CANCEL_CASES),
    ("scheduling", scheduling::UNSUPPORTED_CASES),
    ("deferral", deferral::CASES),
    ("deferral", deferral::UNSUPPORTED_CASES),
    ("session_state", session_state::CASES),
    ("session_state", session_state::UNSUPPORTED_CASES),
    ("parking", parking::CASES),
    ("cutting", cutting::CASES),
];

/// Cases by the names of their functions.
macro_rules! cases {
    ($need:ident: $($name:ident),+ $(,)?) => {
        &[$($crate::conformance::transport::TransportCase {
            name: stringify!($name),
            need: $crate::conformance::transport::Need::$need,
            body: |subject| Box::pin($name(subject)),
        }),+]
    };
}
use cases;
