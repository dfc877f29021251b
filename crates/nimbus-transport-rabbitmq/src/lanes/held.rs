use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use lapin::Channel;
use lapin::options::{BasicAckOptions, BasicNackOptions, BasicQosOptions};
use nimbus_messaging::{LaneLock, TransportError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::consumer::Consuming;
use crate::error::failed;

/// A partition that this process holds, from its first delivery until its channel is closed.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) queue: String,
    consuming: tokio::sync::Mutex<Option<Consuming>>,
    channel: Option<Channel>,
    duration: Duration,
    until: Mutex<Instant>,
    /// The broker, or nobody, has what was delivered.
    lost: CancellationToken,
    /// The holder gave it back.
    released: CancellationToken,
    /// Abandoned deliveries whose delay is not over.
    delays: TaskTracker,
    /// Receipts that are neither used nor dropped.
    pub(super) receipts: TaskTracker,
}

impl Held {
    pub(super) fn new(queue: String, consuming: Consuming, duration: Duration) -> Self {
        Self {
            queue,
            channel: consuming.channel().cloned(),
            consuming: tokio::sync::Mutex::new(Some(consuming)),
            duration,
            until: Mutex::new(Instant::now() + duration),
            lost: CancellationToken::new(),
            released: CancellationToken::new(),
            delays: TaskTracker::new(),
            receipts: TaskTracker::new(),
        }
    }

    pub(super) fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    pub(super) fn released(&self) -> &CancellationToken {
        &self.released
    }

    /// # Errors
    ///
    /// Lock lost, when it is.
    pub(super) fn check(&self) -> Result<(), TransportError> {
        if self.is_lost() || self.released.is_cancelled() {
            return Err(self.lock_lost());
        }
        Ok(())
    }

    /// A lock that ran out is lost, whether or not the task that watches it has run.
    fn is_lost(&self) -> bool {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.released.is_cancelled() && Instant::now() >= until {
            self.lost.cancel();
        }
        self.lost.is_cancelled()
    }

    pub(super) fn lock_lost(&self) -> TransportError {
        TransportError::lock_lost(format!(
            "this process no longer holds {}: the lane was given back, not renewed in time, or its \
             channel is closed; the message is delivered again",
            self.queue
        ))
    }

    /// Waits until the lock has run out without being renewed.
    pub(super) async fn expired(&self) {
        loop {
            let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
            if Instant::now() >= until {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Tells the broker that the delivery is done, and waits until it has heard.
    pub(super) async fn acknowledge(&self, tag: u64) -> Result<(), TransportError> {
        self.settle(tag, true).await
    }

    /// Puts the delivery back to the head of its queue.
    pub(super) async fn put_back(&self, tag: u64) -> Result<(), TransportError> {
        self.settle(tag, false).await
    }

    async fn settle(&self, tag: u64, done: bool) -> Result<(), TransportError> {
        // Held while settling, so that a channel is closed before or after it.
        let consuming = self.consuming.lock().await;
        let channel = consuming.as_ref().and_then(Consuming::channel);
        let Some(channel) = channel.filter(|_| !self.is_lost()) else {
            return Err(self.lock_lost());
        };
        let told = if done {
            channel.basic_ack(tag, BasicAckOptions::default()).await
        } else {
            let options = BasicNackOptions {
                requeue: true,
                ..BasicNackOptions::default()
            };
            channel.basic_nack(tag, options).await
        };
        // On a channel that is closed there is nothing to settle any more.
        told.map_err(|error| self.lock_lost().with_source(error))?;
        // The broker answers no acknowledgement. What it answers on the same channel afterwards
        // tells that it came through; the number asked for is the one that is set.
        let heard = channel.basic_qos(1, BasicQosOptions::default()).await;
        heard.map_err(|error| {
            TransportError::transient(format!(
                "the connection broke while a delivery of {} was being settled; it may be \
                 delivered again",
                self.queue
            ))
            .with_source(failed("settling", error))
        })
    }

    /// Puts the delivery back after a while. Until then nothing follows it: the broker delivers
    /// one at a time.
    pub(super) fn put_back_after(self: &std::sync::Arc<Self>, tag: u64, delay: Duration) {
        let held = std::sync::Arc::clone(self);
        self.delays.spawn(async move {
            tokio::select! {
                biased;
                () = held.lost.cancelled() => return,
                () = tokio::time::sleep(delay) => {}
            }
            // Where it fails, the broker has it back already.
            let _ = held.put_back(tag).await;
        });
    }

    /// Waits until no delay is under way.
    async fn delays_over(&self) {
        self.delays.close();
        self.delays.wait().await;
    }

    /// Gives the partition back, now or when the delay at its head is over.
    pub(super) async fn give_back(self: std::sync::Arc<Self>) {
        self.released.cancel();
        if !self.delays.is_empty() {
            tokio::spawn(async move {
                self.delays_over().await;
                self.close().await;
            });
            return;
        }
        self.close().await;
    }

    /// Gives it back once nobody can settle what it delivered, or its lock has run out.
    pub(super) async fn give_back_when_settled(self: std::sync::Arc<Self>) {
        self.receipts.close();
        tokio::select! {
            () = self.receipts.wait() => {}
            () = self.lost.cancelled() => {}
        }
        self.give_back().await;
    }

    /// The lock is gone: the broker gets back what it may not have yet.
    pub(super) async fn lose(&self) {
        self.lost.cancel();
        self.close().await;
    }

    async fn close(&self) {
        let consuming = self.consuming.lock().await.take();
        if let Some(consuming) = consuming {
            consuming.close().await;
        }
    }
}

#[async_trait]
impl LaneLock for Held {
    fn duration(&self) -> Duration {
        self.duration
    }

    async fn renew(&self) -> Result<(), TransportError> {
        self.check()?;
        // The broker's lock lasts as long as the channel; what runs out is this process's own.
        if !self
            .channel
            .as_ref()
            .is_some_and(|channel| channel.status().connected())
        {
            self.lost.cancel();
            return Err(self.lock_lost());
        }
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + self.duration;
        Ok(())
    }

    fn lost(&self) -> CancellationToken {
        self.lost.clone()
    }
}
