//! Memory stays flat, however many messages go through.

use std::time::Duration;

use nimbus_inbox_core::{Cutoff, EndpointId, Error, Inbox, InboxStore, PurgeLimit, Timestamp};
use nimbus_inbox_testing::{InMemoryInbox, ManualClock};

const ROUND: u64 = 10_000;

/// What the rounds left alive, and the most that was alive of what they allocated.
fn live_bytes(rounds: u64, mut round: impl FnMut(u64)) -> (i64, u64) {
    let measured = allocation_counter::measure(|| (0..rounds).for_each(&mut round));
    (measured.bytes_current, measured.bytes_max)
}

/// INB-23, INB-35: a million messages through the pipeline, whose records expire meanwhile, leave
/// nothing alive.
#[test]
fn a_million_messages_leave_nothing_behind() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let clock = ManualClock::at(Timestamp::UNIX_EPOCH);
    let inbox = Inbox::new("BillingEndpoint", InMemoryInbox::with_clock(clock.clone()))?;
    let endpoint = EndpointId::new("BillingEndpoint")?;
    let round = |number: u64| {
        runtime.block_on(async {
            for message in number * ROUND..(number + 1) * ROUND {
                let id = format!("order-{message}:charge:1");
                let handled = inbox.process(&id, async || Ok::<_, Error>(())).await;
                assert!(handled.is_ok_and(|processed| !processed.is_duplicate()));
            }
            clock.advance(Duration::from_secs(60));
            let expired = Cutoff::OlderThan(Duration::from_secs(30));
            let purged = inbox
                .store()
                .purge(&endpoint, expired, PurgeLimit::MAX)
                .await;
            assert_eq!(purged.ok(), Some(ROUND));
        });
    };

    // Tables grow to the size that a round needs; from then on nothing may be added.
    let (_, first_peak) = live_bytes(50, &round);
    let (left, peak) = live_bytes(50, |number| round(number + 50));

    // One byte a message would be 500,000.
    assert!(
        left < 256 * 1024,
        "{left} bytes of the second half million are still alive"
    );
    assert!(
        peak < first_peak,
        "{peak} bytes were alive in the second half million, {first_peak} in the first"
    );
    Ok(())
}
