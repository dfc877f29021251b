use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use nimbus_inbox_core::{EndpointId, InboxKey, InboxStore, MessageId};
use nimbus_messaging::Headers;
use nimbus_transport_embedded::Inspector;

use crate::ledger::{Execution, Ledger};
use crate::plan::{Kill, Publication};
use crate::queue::ENDPOINT;

/// How many keys one check of the inbox asks for.
const KEYS_PER_CHECK: usize = 500;

/// What a killed consumer left behind, seen before the next one started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Aftermath {
    /// The consumer that was killed, from 1.
    pub(crate) run: u32,
    pub(crate) pid: u32,
    pub(crate) kill: Kill,
    /// Publications whose work this consumer did and the inbox doesn't know, with their message ids.
    pub(crate) unrecorded: BTreeMap<usize, String>,
    /// Publications whose work this consumer did, that the inbox knows and the queue still holds,
    /// with their message ids.
    pub(crate) unsettled: BTreeMap<usize, String>,
}

impl Aftermath {
    pub(super) async fn look(
        run: u32,
        pid: u32,
        kill: Kill,
        inspector: &Inspector,
        inbox: &impl InboxStore,
        ledger: &Ledger,
    ) -> anyhow::Result<Self> {
        let executions = ledger.executions().await?;
        let recorded = recorded(inbox, ids(&executions)).await?;
        let queued = queued(inspector).await?;
        let mut aftermath = Self {
            run,
            pid,
            kill,
            unrecorded: BTreeMap::new(),
            unsettled: BTreeMap::new(),
        };
        for execution in executions {
            // What the inbox can't recognise never gets a record.
            let Some(id) = execution
                .message_id
                .filter(|id| execution.run == run && MessageId::new(id).is_ok())
            else {
                continue;
            };
            if !recorded.contains(&id) {
                aftermath.unrecorded.insert(execution.publication, id);
            } else if queued.contains(&execution.publication) {
                aftermath.unsettled.insert(execution.publication, id);
            }
        }
        Ok(aftermath)
    }

    /// Whether the kill found its message where it should be.
    pub(crate) fn hit(&self) -> bool {
        let (found, held) = match &self.kill {
            Kill::BeforeRecord(id) => (&self.unrecorded, id),
            Kill::BeforeSettlement(id) => (&self.unsettled, id),
            Kill::AfterDeliveries(_) => return true,
        };
        found.values().any(|id| id == held)
    }
}

fn ids(executions: &[Execution]) -> impl Iterator<Item = &str> {
    executions
        .iter()
        .filter_map(|execution| execution.message_id.as_deref())
}

/// Publications that stand in line.
async fn queued(inspector: &Inspector) -> anyhow::Result<BTreeSet<usize>> {
    let messages = inspector.messages(ENDPOINT, u32::MAX).await?;
    Ok(messages
        .iter()
        .filter_map(|message| {
            let headers = Headers::read(message).ok()?;
            Publication::number_of(headers.correlation_id.as_deref()?)
        })
        .collect())
}

/// Those of the ids that the inbox has a record of.
pub(crate) async fn recorded(
    inbox: &impl InboxStore,
    ids: impl Iterator<Item = &str>,
) -> anyhow::Result<BTreeSet<String>> {
    let endpoint = EndpointId::new(ENDPOINT)?;
    let usable: BTreeSet<MessageId> = ids.filter_map(|id| MessageId::new(id).ok()).collect();
    let keys: Vec<InboxKey> = usable
        .into_iter()
        .map(|id| InboxKey::new(endpoint.clone(), id))
        .collect();
    let mut recorded = BTreeSet::new();
    for keys in keys.chunks(KEYS_PER_CHECK) {
        let answers = inbox
            .check(keys)
            .await
            .context("reading the inbox failed")?;
        recorded.extend(
            keys.iter()
                .zip(answers)
                .filter(|(_, answer)| answer.is_some())
                .map(|(key, _)| key.message_id().as_str().to_owned()),
        );
    }
    Ok(recorded)
}
