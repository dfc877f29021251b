//! What the whole subscriber costs per message, over store and broker in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nimbus_inbox_core::InboxSetup;
use nimbus_inbox_testing::{BrokerOptions, InMemoryBroker, InMemoryInbox};
use nimbus_messaging::{Address, Envelope, EventRequest, Transport};
use nimbus_subscriber::{HandlerError, Subscriber};
use tokio::sync::Notify;

use crate::measure::{Cost, cost};
use crate::report::{Report, Row};

const MESSAGES: u32 = 2_000;
const SESSIONS: u32 = 40;

#[derive(Debug, Clone, Copy)]
enum Receiver {
    /// Accepts, receives and completes; no session state, no outcomes.
    Bare,
    WithoutInbox,
    WithInbox,
}

pub(crate) fn run(report: &mut Report) -> anyhow::Result<()> {
    let events = events()?;
    let rows = [
        (
            "accept, receive and complete on the bare broker",
            Receiver::Bare,
        ),
        ("subscriber without inbox", Receiver::WithoutInbox),
        ("subscriber with inbox", Receiver::WithInbox),
    ]
    .into_iter()
    .map(|(case, receiver)| anyhow::Ok(row(case, measure(&events, receiver)?)))
    .collect::<Result<_, _>>()?;
    report.add(
        format!("subscriber, in memory, {SESSIONS} sessions, a handler that does nothing"),
        rows,
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

fn events() -> anyhow::Result<Vec<Envelope>> {
    (0..MESSAGES)
        .map(|number| {
            let event = serde_json::json!({ "total_cents": number });
            Ok(EventRequest::new("OrderPlaced", &event)?
                .with_message_id(format!("order-{number}:placed:1"))
                .with_session(format!("order-{}", number % SESSIONS))
                .to("BillingEndpoint"))
        })
        .collect()
}

/// Publishing is part of each sample, and the same for all receivers.
fn measure(events: &[Envelope], receiver: Receiver) -> anyhow::Result<Cost> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut failure = None;
    let cost = cost(MESSAGES, || {
        if let Err(error) = runtime.block_on(consume(events.to_vec(), receiver)) {
            failure = Some(error);
        }
    });
    failure.map_or(Ok(cost), Err)
}

async fn consume(events: Vec<Envelope>, receiver: Receiver) -> anyhow::Result<()> {
    let broker = InMemoryBroker::with_options(BrokerOptions::default().without_log());
    broker.declare("BillingEndpoint");
    let transport = broker.connect();
    let sender = transport.sender(&Address::new("BillingEndpoint")).await?;
    sender.send(events).await?;
    if matches!(receiver, Receiver::Bare) {
        return complete_all(&transport).await;
    }

    let done = Done::default();
    let builder = Subscriber::builder("BillingEndpoint").handle_with(
        done.clone(),
        "OrderPlaced",
        |done: Done, _: serde_json::Value, _| async move {
            done.one();
            Ok::<_, HandlerError>(())
        },
    );
    let builder = match receiver {
        Receiver::WithInbox => builder.inbox(InboxSetup::new(InMemoryInbox::new())),
        Receiver::Bare | Receiver::WithoutInbox => builder,
    };
    let report = builder.build(transport)?.run(done.all()).await?;
    anyhow::ensure!(
        report.handled == u64::from(MESSAGES),
        "not all handled: {report}"
    );
    Ok(())
}

async fn complete_all(transport: &impl Transport) -> anyhow::Result<()> {
    let mut lanes = transport.lanes(&"BillingEndpoint".parse()?).await?;
    let mut left = MESSAGES;
    while left > 0 {
        let Some(mut lane) = lanes.accept_next().await? else {
            anyhow::bail!("the broker stopped with {left} messages left");
        };
        while let Some(delivery) = lane.receive(Duration::from_millis(1)).await? {
            delivery.receipt.complete().await?;
            left -= 1;
            if left.is_multiple_of(MESSAGES / SESSIONS) {
                break;
            }
        }
        lane.release().await?;
    }
    Ok(())
}

/// Counts handled messages and tells when it was all of them.
#[derive(Debug, Clone, Default)]
struct Done(Arc<(AtomicU32, Notify)>);

impl Done {
    fn one(&self) {
        if self.0.0.fetch_add(1, Ordering::SeqCst) + 1 == MESSAGES {
            self.0.1.notify_one();
        }
    }

    fn all(&self) -> impl Future<Output = ()> + Send + use<> {
        let counted = Arc::clone(&self.0);
        async move { counted.1.notified().await }
    }
}
