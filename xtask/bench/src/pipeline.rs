//! What the inbox costs around a handler that does nothing, over the store in memory.

use nimbus_inbox_core::{
    Batching, EndpointId, Inbox, InboxKey, InboxStore, InboxStoreExt, MessageId,
};
use nimbus_inbox_testing::InMemoryInbox;
use tokio::runtime::Runtime;

use crate::measure::{Cost, cost};
use crate::report::{Report, Row};

const MESSAGES: u32 = 5_000;

pub(crate) fn run(report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut ids = Ids::default();

    let by_hand = {
        let store = InMemoryInbox::new();
        let endpoint = EndpointId::new("BillingEndpoint")?;
        cost(MESSAGES, || {
            let ids = ids.fresh();
            runtime.block_on(check_and_record(&store, &endpoint, &ids));
        })
    };
    let fresh = {
        let inbox = Inbox::new("BillingEndpoint", InMemoryInbox::new())?;
        cost(MESSAGES, || process(&runtime, &inbox, &ids.fresh()))
    };
    let duplicates = {
        let inbox = Inbox::new("BillingEndpoint", InMemoryInbox::new())?;
        let same = ids.fresh();
        cost(MESSAGES, || process(&runtime, &inbox, &same))
    };
    let batched = {
        let inbox = Inbox::new("BillingEndpoint", Batching::new(InMemoryInbox::new()))?;
        cost(MESSAGES, || process(&runtime, &inbox, &ids.fresh()))
    };
    report.add(
        "inbox around a handler that does nothing, in memory, one at a time",
        vec![
            row("check and record on the bare store", by_hand),
            row("Inbox::process, fresh", fresh),
            row("Inbox::process, duplicates", duplicates),
            row("Inbox::process behind Batching, fresh", batched),
        ],
    );
    Ok(())
}

fn row(case: &str, cost: Cost) -> Row {
    Row {
        case: case.to_owned(),
        nanoseconds: Some(cost.time.as_nanos()),
        allocations: Some(cost.allocations),
        bytes: Some(cost.bytes),
        ..Row::default()
    }
}

/// Message ids that no sample has used before.
#[derive(Default)]
struct Ids(u64);

impl Ids {
    fn fresh(&mut self) -> Vec<String> {
        (0..MESSAGES)
            .map(|_| {
                self.0 += 1;
                format!("order-{}:charge:1", self.0)
            })
            .collect()
    }
}

async fn check_and_record(store: &InMemoryInbox, endpoint: &EndpointId, ids: &[String]) {
    for id in ids {
        let Ok(id) = MessageId::new(id) else { continue };
        let key = InboxKey::new(endpoint.clone(), id);
        if let Ok(None) = store.check_one(&key).await {
            let _ = store.record_one(&key).await;
        }
    }
}

fn process<S: InboxStore>(runtime: &Runtime, inbox: &Inbox<S>, ids: &[String]) {
    runtime.block_on(async {
        for id in ids {
            let handler = async || Ok::<_, nimbus_inbox_core::Error>(());
            let _ = inbox.process(id, handler).await;
        }
    });
}
