//! The contract of session stores: cases that transports share, and those of a store alone.

mod dropping;
mod parking;
mod processes;
mod state;
mod subject;
mod suite;
mod under_test;

use futures_util::future::BoxFuture;

pub use suite::SessionStoreConformance;
pub(super) use under_test::{SessionUnderTest, copy, counting, names};

/// A case on one fresh session.
pub(super) struct SessionCase {
    pub(super) name: &'static str,
    pub(super) body: SessionBody,
}

pub(super) type SessionBody = fn(SessionUnderTest) -> BoxFuture<'static, ()>;

/// Every case on one session, by subject, whether a transport or a program opened the store.
pub(super) const SESSION_CASES: &[(&str, &[SessionCase])] = &[
    ("session_state", state::CASES),
    ("parking", parking::CASES),
    ("parking", dropping::CASES),
];

/// Cases by the names of their functions.
macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        &[$($crate::conformance::session_store::SessionCase {
            name: stringify!($name),
            body: |held| Box::pin($name(held)),
        }),+]
    };
}
use cases;
