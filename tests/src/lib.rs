#![doc = include_str!("../../README.md")]

/// The programs in the documentation run as doc tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../docs/cloud-events.md")]
    mod cloud_events {}
    #[doc = include_str!("../../docs/configuration.md")]
    mod configuration {}
    #[doc = include_str!("../../docs/guide.md")]
    mod guide {}
    #[doc = include_str!("../../docs/operations.md")]
    mod operations {}
    #[doc = include_str!("../../docs/retries-and-stand-ins.md")]
    mod retries_and_stand_ins {}
}

mod ledger;

use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use nimbus_transport_embedded::{EmbeddedOptions, EmbeddedTransport};
use serde::{Deserialize, Serialize};

pub use ledger::{Entry, Ledger};

/// The endpoint that the consumer process serves.
pub const ENDPOINT: &str = "BillingEndpoint";

/// The event of the end-to-end tests.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Step {
    /// Its place in its session, from 0.
    pub number: u32,
}

/// The queue that all processes of a test share.
///
/// Locks are short, so that the sessions of a killed process come back soon; the delivery limit is
/// far away, since kills are not the messages' fault.
///
/// # Errors
///
/// When the queue can't be opened.
pub async fn queue(directory: &Path) -> anyhow::Result<EmbeddedTransport> {
    let options = EmbeddedOptions::default()
        .with_lock_duration(Duration::from_secs(1))
        .with_delivery_limit(NonZeroU32::MAX);
    Ok(EmbeddedTransport::open_with(directory.join("queue.db"), options).await?)
}
