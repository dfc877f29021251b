//! A session of a store, with answers that a case can rely on.

use std::num::NonZeroU32;
use std::sync::Arc;

use nimbus_messaging::{
    Cas, Envelope, ParkedCopy, ParkedRef, SessionId, SessionState, SessionStore, StateVersion,
    VersionedState,
};

use crate::conformance::answers::expect;

/// The state and the copies of a session.
#[derive(Clone)]
pub(in crate::conformance) struct SessionUnderTest {
    pub(in crate::conformance) store: Arc<dyn SessionStore>,
    pub(in crate::conformance) session: SessionId,
}

impl SessionUnderTest {
    pub(in crate::conformance) async fn fence(&self) -> VersionedState {
        expect("a fence", self.store.fence(&self.session).await)
    }

    pub(in crate::conformance) async fn read(&self) -> VersionedState {
        expect("a read of the state", self.store.read(&self.session).await)
    }

    /// A write that must go through.
    pub(in crate::conformance) async fn write(
        &self,
        state: &SessionState,
        expected: StateVersion,
    ) -> StateVersion {
        let cas = self.store.write(&self.session, state, expected).await;
        written(expect("a write of the state", cas))
    }

    /// Parks a copy, which must go through.
    pub(in crate::conformance) async fn park(
        &self,
        copy: &ParkedCopy,
        state: &SessionState,
        expected: StateVersion,
    ) -> StateVersion {
        let cas = self.store.park(&self.session, copy, state, expected).await;
        written(expect("parking", cas))
    }

    pub(in crate::conformance) async fn parked_up_to(&self, limit: u32) -> Vec<ParkedCopy> {
        let limit = NonZeroU32::new(limit).expect("the suite reads at least one copy");
        let parked = self.store.parked(&self.session, limit).await;
        expect("reading the parked copies", parked)
    }

    pub(in crate::conformance) async fn parked(&self) -> Vec<ParkedCopy> {
        self.parked_up_to(1_000).await
    }

    /// The only copy there is.
    pub(in crate::conformance) async fn only_parked(&self) -> ParkedRef {
        let parked = self.parked().await;
        let [only] = &parked[..] else {
            panic!("one copy was parked, and these are there: {parked:?}");
        };
        only.reference.clone()
    }
}

/// The version of a write that must have gone through.
pub(in crate::conformance) fn written(cas: Cas) -> StateVersion {
    match cas {
        Cas::Written(version) => version,
        Cas::Conflict => panic!("a write at the current version met a conflict"),
    }
}

pub(in crate::conformance) fn counting(deferred: i64) -> SessionState {
    SessionState {
        deferred_count: deferred,
        next_deferral_sequence: deferred,
        ..SessionState::default()
    }
}

pub(in crate::conformance) fn copy(sequence: i64, id: &str) -> ParkedCopy {
    ParkedCopy {
        reference: ParkedRef {
            sequence,
            id: id.to_owned(),
            // The store says which generation it is.
            generation: 77,
        },
        envelope: Envelope {
            message_id: Some(id.to_owned()),
            session_id: Some("s".to_owned()),
            ..Envelope::default()
        },
    }
}

pub(in crate::conformance) fn names(parked: &[ParkedCopy]) -> Vec<(i64, &str)> {
    let references = parked.iter().map(|copy| &copy.reference);
    references
        .map(|reference| (reference.sequence, reference.id.as_str()))
        .collect()
}
