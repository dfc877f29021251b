//! The process that is killed: a billing subscriber as any service would write it, on a store and
//! a transport that can hold one message at a chosen point.

mod handlers;
mod holding;
mod instructions;
pub(crate) mod register;
mod stop;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use nimbus_inbox_core::InboxSetup;
use nimbus_inbox_sqlite::SqliteInbox;
use nimbus_subscriber::{RetryPolicy, Subscriber, SubscriberBuilder};
use tracing_subscriber::EnvFilter;

pub(crate) use instructions::{Instructions, Troubles};

use crate::billing::{
    Bookable, OrderCancelled, OrderDelivered, OrderPlaced, OrderShipped, PaymentCaptured,
    PaymentFailed, RefundIssued,
};
use crate::ledger::Ledger;
use crate::queue::{self, ENDPOINT};
use handlers::{Billing, book};
use holding::{Hold, HoldingStore, HoldingTransport};

/// The pause before an event that failed is tried again.
const RETRY_AFTER: Duration = Duration::from_millis(250);

/// Where the consumers of a run write their logs.
pub(crate) fn log_path(directory: &Path) -> PathBuf {
    directory.join("consumer.log")
}

/// Opens the inbox as both processes do.
pub(crate) async fn open_inbox(directory: &Path) -> Result<SqliteInbox, nimbus_inbox_core::Error> {
    SqliteInbox::open(directory.join("inbox.db")).await
}

/// Consumes until standard input ends.
pub(crate) async fn run(directory: &Path) -> anyhow::Result<()> {
    log_to(&log_path(directory))?;
    let stop = stop::when_input_ends();
    let instructions = Instructions::read(directory)?;
    let hold = Arc::new(Hold::new(instructions.hold.clone()));
    let inbox = HoldingStore::new(open_inbox(directory).await?, Arc::clone(&hold));
    let transport = HoldingTransport::new(queue::open(directory).await?, hold);
    let billing = Billing::new(Ledger::open(directory).await?, instructions, directory);

    let report = with_handlers(Subscriber::builder(ENDPOINT), &billing)
        .retry(RetryPolicy::fixed(RETRY_AFTER))
        .inbox(InboxSetup::new(inbox))
        .drain_deadline(Duration::from_secs(5))
        .build(transport)?
        .run(stop)
        .await?;
    tracing::info!("the consumer ended: {report}");
    Ok(())
}

fn with_handlers(subscriber: SubscriberBuilder, billing: &Billing) -> SubscriberBuilder {
    fn add<E: Bookable>(subscriber: SubscriberBuilder, billing: &Billing) -> SubscriberBuilder {
        subscriber.handle_with(billing.clone(), E::EVENT_TYPE, book::<E>)
    }
    let subscriber = add::<OrderPlaced>(subscriber, billing);
    let subscriber = add::<PaymentCaptured>(subscriber, billing);
    let subscriber = add::<PaymentFailed>(subscriber, billing);
    let subscriber = add::<OrderShipped>(subscriber, billing);
    let subscriber = add::<OrderDelivered>(subscriber, billing);
    let subscriber = add::<OrderCancelled>(subscriber, billing);
    add::<RefundIssued>(subscriber, billing)
}

fn log_to(path: &Path) -> anyhow::Result<()> {
    let file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("can't write the log {}", path.display()))?;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .compact()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Arc::new(file))
        .init();
    Ok(())
}
