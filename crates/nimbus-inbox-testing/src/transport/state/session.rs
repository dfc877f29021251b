use std::collections::BTreeMap;
use std::num::NonZeroU32;

use nimbus_messaging::{
    Cas, Envelope, ParkedCopy, ParkedRef, SessionState, StateVersion, TransportError,
    VersionedState,
};

/// What is kept of one session. The state is kept as its JSON, so that whatever a test reads went
/// through the stored form.
#[derive(Debug, Default)]
pub(in crate::transport) struct SessionRecord {
    json: String,
    version: i64,
    /// By sequence, then id.
    parked: BTreeMap<(i64, String), Parked>,
}

#[derive(Debug)]
struct Parked {
    generation: u32,
    envelope: Envelope,
}

impl SessionRecord {
    pub(in crate::transport) fn fence(&mut self) -> Result<VersionedState, TransportError> {
        let state = self.state()?;
        self.version += 1;
        Ok(VersionedState {
            state,
            version: StateVersion(self.version),
        })
    }

    pub(in crate::transport) fn read(&self) -> Result<VersionedState, TransportError> {
        Ok(VersionedState {
            state: self.state()?,
            version: StateVersion(self.version),
        })
    }

    pub(in crate::transport) fn write(
        &mut self,
        state: &SessionState,
        expected: StateVersion,
    ) -> Cas {
        if !self.is_at(expected) {
            return Cas::Conflict;
        }
        self.put_json(state.to_json());
        Cas::Written(StateVersion(self.version))
    }

    fn is_at(&self, expected: StateVersion) -> bool {
        self.version == expected.0
    }

    pub(in crate::transport) fn json(&self) -> &str {
        &self.json
    }

    /// Replaces the stored text as it is, valid or not.
    pub(in crate::transport) fn put_json(&mut self, json: String) {
        self.json = json;
        self.version += 1;
    }

    pub(in crate::transport) fn keep_copy(&mut self, copy: &ParkedCopy) {
        let key = (copy.reference.sequence, copy.reference.id.clone());
        let generation = self
            .parked
            .get(&key)
            .map_or(0, |parked| parked.generation.saturating_add(1));
        self.parked.insert(
            key,
            Parked {
                generation,
                envelope: copy.envelope.clone(),
            },
        );
    }

    pub(in crate::transport) fn remove_copy(&mut self, reference: &ParkedRef) {
        let key = (reference.sequence, reference.id.clone());
        if self
            .parked
            .get(&key)
            .is_some_and(|parked| parked.generation == reference.generation)
        {
            self.parked.remove(&key);
        }
    }

    pub(in crate::transport) fn parked(&self, limit: NonZeroU32) -> Vec<ParkedCopy> {
        let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        self.parked
            .iter()
            .take(limit)
            .map(|((sequence, id), parked)| ParkedCopy {
                reference: ParkedRef {
                    sequence: *sequence,
                    id: id.clone(),
                    generation: parked.generation,
                },
                envelope: parked.envelope.clone(),
            })
            .collect()
    }

    fn state(&self) -> Result<SessionState, TransportError> {
        SessionState::from_json(self.json.as_bytes()).map_err(|error| {
            TransportError::configuration(
                "the stored state of a session is not the JSON of one; repair or remove it",
            )
            .with_source(error)
        })
    }
}
