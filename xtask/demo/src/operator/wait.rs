use std::time::Duration;

use anyhow::bail;
use nimbus_messaging::Address;
use nimbus_transport_embedded::{Inspector, QueueCounts};
use tokio::time::{Instant, sleep};

use crate::queue::ENDPOINT;
use crate::supervise::ConsumerProcess;

/// How often the queue is looked at.
const TICK: Duration = Duration::from_millis(50);

/// Each step takes about a second.
const LONGEST_STEP: Duration = Duration::from_secs(30);

/// Waits until nothing but `parked` messages is left of the endpoint, and reads meanwhile what the
/// consumer says, so that its output never fills up.
pub(super) async fn until_parked(
    parked: usize,
    consumer: &mut ConsumerProcess,
    inspector: &Inspector,
) -> anyhow::Result<()> {
    let parked = u64::try_from(parked).unwrap_or(u64::MAX);
    let deadline = Instant::now() + LONGEST_STEP;
    loop {
        tokio::select! {
            signal = consumer.next_signal() => {
                if signal?.is_none() {
                    bail!("the consumer ended by itself: {}", consumer.ended().await?);
                }
            }
            () = sleep(TICK) => {}
        }
        let counts = inspector.queue(ENDPOINT).await?;
        if is_at_rest(&counts) && counts.parked == parked {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!(
                "the second act is stuck: {} messages in line, {} scheduled, {} parked instead of \
                 {parked}",
                counts.ready,
                counts.scheduled,
                counts.parked
            );
        }
    }
}

/// Waits until the resolver has taken all that it was told.
pub(super) async fn until_told(inspector: &Inspector) -> anyhow::Result<()> {
    let deadline = Instant::now() + LONGEST_STEP;
    loop {
        let counts = inspector.queue(Address::RESOLVER).await?;
        if is_at_rest(&counts) {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!(
                "the resolver is stuck: {} outcomes wait for it; resolver.log, beside the \
                 databases, may say why",
                counts.ready
            );
        }
        sleep(TICK).await;
    }
}

fn is_at_rest(counts: &QueueCounts) -> bool {
    counts.ready == 0 && counts.scheduled == 0 && counts.deferred == 0
}
