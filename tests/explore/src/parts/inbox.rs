use async_trait::async_trait;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, PurgeLimit, Recorded, StoreCapabilities,
    Timestamp,
};
use nimbus_inbox_testing::{InMemoryInbox, ProcessId};

use crate::effect::Effect;
use crate::gate::Gate;
use crate::oracle::Oracle;

/// The inbox as one process reaches it: its effects wait at the gate.
#[derive(Debug)]
pub(crate) struct InboxSteps {
    pub(crate) records: InMemoryInbox,
    pub(crate) gate: Gate,
    pub(crate) oracle: Oracle,
    pub(crate) process: ProcessId,
    /// Whether several keys are recorded in one step.
    pub(crate) at_once: bool,
}

#[async_trait]
impl InboxStore for InboxSteps {
    fn provider(&self) -> &'static str {
        self.records.provider()
    }

    fn capabilities(&self) -> StoreCapabilities {
        StoreCapabilities {
            atomic_batches: self.at_once,
            ..self.records.capabilities()
        }
    }

    async fn verify(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        self.oracle.arrives(self.process);
        self.gate.pass(self.process, Effect::Check).await;
        self.oracle.checked(self.process);
        self.records.check(keys).await
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        let mut recorded = Vec::with_capacity(keys.len());
        let steps = if self.at_once { keys.len() } else { 1 };
        for step in keys.chunks(steps) {
            let named = step[0].message_id().as_str().to_owned();
            self.gate.pass(self.process, Effect::Record(named)).await;
            recorded.extend(self.records.record(step).await?);
            for key in step {
                self.oracle
                    .recorded(self.process, key.message_id().as_str());
            }
        }
        Ok(recorded)
    }

    async fn purge(&self, _: &EndpointId, _: Cutoff, _: PurgeLimit) -> Result<u64, Error> {
        // Nothing expires within a schedule.
        Ok(0)
    }
}
