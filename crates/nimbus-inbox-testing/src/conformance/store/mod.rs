//! The store contract, case by case: one file per subject.

mod batches;
mod cancellation;
mod client_clock;
mod durability;
mod identity;
mod misconfiguration;
mod opening;
mod purge_races;
mod purging;
mod recording;
mod subject;
mod suite;

use futures_util::future::BoxFuture;

pub use suite::StoreConformance;

use subject::Subject;
use suite::Need;

/// A case of the suite.
struct StoreCase {
    name: &'static str,
    need: Need,
    body: fn(Subject) -> BoxFuture<'static, ()>,
}

/// Every case, by subject.
const CASES: &[(&str, &[StoreCase])] = &[
    ("recording", recording::CASES),
    ("batches", batches::CASES),
    ("identity", identity::CASES),
    ("purging", purging::CASES),
    ("purge_races", purge_races::CASES),
    ("cancellation", cancellation::CASES),
    ("opening", opening::CASES),
    ("durability", durability::CASES),
    ("client_clock", client_clock::CASES),
    ("misconfiguration", misconfiguration::CASES),
];

/// Cases by the names of their functions.
macro_rules! cases {
    ($need:ident: $($name:ident),+ $(,)?) => {
        &[$($crate::conformance::store::StoreCase {
            name: stringify!($name),
            need: $crate::conformance::store::Need::$need,
            body: |subject| Box::pin($name(subject)),
        }),+]
    };
}
use cases;
