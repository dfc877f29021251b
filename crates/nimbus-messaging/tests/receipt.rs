//! Settling a delivery.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use nimbus_messaging::{Receipt, Settlement, SettlementTasks, Settler, TransportError};

/// Takes its time, then remembers that it settled.
struct SlowSettler {
    takes: Duration,
    settled: Arc<AtomicBool>,
}

#[async_trait]
impl Settler for SlowSettler {
    async fn settle(self: Box<Self>, _: Settlement) -> Result<(), TransportError> {
        tokio::time::sleep(self.takes).await;
        self.settled.store(true, Ordering::SeqCst);
        Ok(())
    }
}

fn slow(takes: Duration, tasks: &SettlementTasks) -> (Receipt, Arc<AtomicBool>) {
    let settled = Arc::new(AtomicBool::new(false));
    let settler = SlowSettler {
        takes,
        settled: Arc::clone(&settled),
    };
    (Receipt::new(settler, tasks), settled)
}

/// INB-14: a settlement goes on when whoever awaited it is gone.
#[tokio::test(start_paused = true)]
async fn dropping_the_signal_does_not_stop_the_settlement() {
    let tasks = SettlementTasks::new(Duration::from_secs(30));
    let (receipt, settled) = slow(Duration::from_secs(5), &tasks);
    drop(receipt.complete());
    assert!(!settled.load(Ordering::SeqCst));
    tasks.drained().await;
    assert!(settled.load(Ordering::SeqCst));
}

/// INB-14: a settlement runs on its own bound, and one that passes it is not a success.
#[tokio::test(start_paused = true)]
async fn a_settlement_that_hangs_is_an_error() {
    let tasks = SettlementTasks::new(Duration::from_secs(30));
    let (receipt, settled) = slow(Duration::from_secs(3_600), &tasks);
    let error = receipt.complete().await.expect_err("it hangs");
    assert!(error.is_transient());
    assert!(!settled.load(Ordering::SeqCst));
}

/// A dropped receipt settles nothing.
#[tokio::test(start_paused = true)]
async fn dropping_the_receipt_settles_nothing() {
    let tasks = SettlementTasks::new(Duration::from_secs(30));
    let (receipt, settled) = slow(Duration::ZERO, &tasks);
    drop(receipt);
    tasks.drained().await;
    assert!(!settled.load(Ordering::SeqCst));
}
