//! Check and record in SQLite, against loops written by hand over the same driver and settings.

mod by_hand;

use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Batching, EndpointId, InboxKey, InboxStore, InboxStoreExt, MessageId};
use nimbus_inbox_sqlite::SqliteInbox;

use self::by_hand::ByHand;
use crate::load::closed_load;
use crate::report::{Report, Row};

const IN_FLIGHT: [usize; 3] = [1, 8, 64];

/// Which share of the deliveries repeats an earlier one.
#[derive(Debug, Clone, Copy)]
enum Mix {
    Fresh,
    FifthDuplicate,
}

impl Mix {
    /// The id of delivery `number`.
    fn id(self, number: u64) -> String {
        let repeated = matches!(self, Self::FifthDuplicate) && number % 5 == 4;
        // The deliveries in flight beside this one are left alone: theirs may not be recorded yet.
        let number = if repeated {
            number.saturating_sub(200) / 5 * 5
        } else {
            number
        };
        format!("order-{number}:charge:1")
    }
}

pub(crate) fn run(report: &mut Report, duration: Duration) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    for (mix, name) in [
        (Mix::Fresh, "fresh"),
        (Mix::FifthDuplicate, "20 % duplicates"),
    ] {
        for in_flight in IN_FLIGHT {
            let rows = runtime.block_on(compare(mix, in_flight, duration))?;
            report.add(
                format!("SQLite check and record, {name}, {in_flight} in flight"),
                rows,
            );
        }
    }
    Ok(())
}

async fn compare(mix: Mix, in_flight: usize, duration: Duration) -> anyhow::Result<Vec<Row>> {
    let directory = tempfile::tempdir()?;
    let file = |name: &str| directory.path().join(name);

    let by_hand = Arc::new(ByHand::open(&file("by-hand.db"))?);
    let baseline = closed_load("loop written by hand", in_flight, duration, move |number| {
        let by_hand = Arc::clone(&by_hand);
        async move {
            let key = key(&mix.id(number))?;
            tokio::task::spawn_blocking(move || by_hand.check_and_record(&key)).await?
        }
    })
    .await?;

    let store = Arc::new(SqliteInbox::open(file("inbox.db")).await?);
    let plain = load_store("SqliteInbox", mix, in_flight, duration, store).await?;

    let batching = Batching::new(SqliteInbox::open(file("batching.db")).await?);
    let batched = load_store(
        "SqliteInbox behind Batching",
        mix,
        in_flight,
        duration,
        Arc::new(batching),
    )
    .await?;
    Ok(vec![baseline, plain, batched])
}

async fn load_store<S: InboxStore>(
    case: &str,
    mix: Mix,
    in_flight: usize,
    duration: Duration,
    store: Arc<S>,
) -> anyhow::Result<Row> {
    store.verify().await?;
    closed_load(case, in_flight, duration, move |number| {
        let store = Arc::clone(&store);
        async move {
            let key = key(&mix.id(number))?;
            if store.check_one(&key).await?.is_none() {
                store.record_one(&key).await?;
            }
            Ok(())
        }
    })
    .await
}

fn key(id: &str) -> anyhow::Result<InboxKey> {
    Ok(InboxKey::new(
        EndpointId::new("BillingEndpoint")?,
        MessageId::new(id)?,
    ))
}
