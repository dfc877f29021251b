//! A whole subscriber on one SQLite file, whose handler records the message in its own transaction.

use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Inbox, InboxSetup, InboxStoreExt};
use nimbus_inbox_sqlite::{Database, SqliteInbox};
use nimbus_inbox_testing::key;
use nimbus_messaging::{Address, EventRequest, Headers, MessageType, Transport};
use nimbus_subscriber::{HandlerContext, HandlerError, RetryPolicy, Subscriber, SubscriberBuilder};
use nimbus_tests::{ENDPOINT, Step, queue};
use nimbus_transport_embedded::EmbeddedTransport;
use tokio::sync::Notify;

#[derive(Clone)]
struct Billing {
    inbox: Inbox<SqliteInbox>,
    database: Database,
    /// Told by the handler that hangs, after its effect.
    hangs: Arc<Notify>,
}

impl Billing {
    async fn open(directory: &std::path::Path) -> anyhow::Result<Self> {
        let store = SqliteInbox::open(directory.join("billing.db")).await?;
        let database = store.database().clone();
        database
            .write(|tx| tx.execute_batch("create table if not exists invoice (step integer)"))
            .await?;
        Ok(Self {
            inbox: Inbox::new(ENDPOINT, store)?,
            database,
            hangs: Arc::default(),
        })
    }

    fn subscriber(&self) -> SubscriberBuilder {
        Subscriber::builder(ENDPOINT)
            .handle_with(self.clone(), "Step", invoice)
            .retry(RetryPolicy::fixed(Duration::from_millis(50)))
    }

    async fn invoices(&self) -> anyhow::Result<Vec<u32>> {
        let invoices = self.database.read(|connection| {
            connection
                .prepare("select step from invoice order by step")?
                .query_map((), |row| row.get(0))?
                .collect()
        });
        Ok(invoices.await?)
    }

    async fn is_recorded(&self, id: &str) -> anyhow::Result<bool> {
        let recorded = self.inbox.store().check_one(&key(ENDPOINT, id)).await?;
        Ok(recorded.is_some())
    }
}

/// Fails after its effect the first time, and hangs there once.
async fn invoice(
    billing: Billing,
    step: Step,
    context: HandlerContext,
) -> Result<(), HandlerError> {
    let handling = context.clone();
    let work = context.process_in(&billing.inbox, &billing.database, async |tx| {
        tx.call(move |tx| tx.execute("insert into invoice values (?1)", [step.number]))
            .await?;
        match (
            step.number,
            handling.retry_count(),
            handling.delivery_count(),
        ) {
            (1, 0, _) => Err(HandlerError::retry("not yet")),
            (HANGING, _, 1) => {
                billing.hangs.notify_one();
                std::future::pending().await
            }
            _ => Ok(()),
        }
    });
    work.await
}

/// The step whose first delivery never ends.
const HANGING: u32 = 9;

async fn publish(transport: &EmbeddedTransport, numbers: &[u32]) -> anyhow::Result<()> {
    transport.declare(ENDPOINT).await?;
    let sender = transport.sender(&Address::new(ENDPOINT)).await?;
    for number in numbers {
        let event = EventRequest::new("Step", &Step { number: *number })?
            .with_message_id(format!("m-{number}"))
            .with_session(format!("s-{number}"))
            .to(ENDPOINT);
        sender.send(vec![event]).await?;
    }
    Ok(())
}

/// SUB-39, INB-41, INB-15: effect and record of each message commit together, once: of one that is
/// published twice, and of one whose first attempt fails after its effect and whose retry succeeds.
/// With an inbox of the subscriber the duplicate is found by the check, without one by the claim.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_claims_has_its_effects_once() -> anyhow::Result<()> {
    for with_inbox in [true, false] {
        let directory = tempfile::tempdir()?;
        let transport = queue(directory.path()).await?;
        publish(&transport, &[0, 0, 1]).await?;
        let billing = Billing::open(directory.path()).await?;
        let mut subscriber = billing.subscriber();
        if with_inbox {
            let store = billing.inbox.store().as_ref().clone();
            subscriber = subscriber.inbox(InboxSetup::new(store));
        }
        let report = subscriber
            .build(transport.clone())?
            .run(idle(transport.clone()))
            .await?;

        assert_eq!((report.handled, report.duplicates), (2, 1), "{report}");
        assert_eq!(billing.invoices().await?, [0, 1]);
        for id in ["m-0", "m-1"] {
            assert!(billing.is_recorded(id).await?, "{id} is not recorded");
        }
        assert_eq!(skipped(&transport).await?, 1);
    }
    Ok(())
}

/// SUB-39, INB-14: a run that is dropped after the effect and before the commit leaves neither
/// effect nor record; the next one makes both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_dropped_before_the_commit_leaves_neither() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let transport = queue(directory.path()).await?;
    publish(&transport, &[HANGING]).await?;
    let billing = Billing::open(directory.path()).await?;
    let subscriber = billing.subscriber().build(transport.clone())?;
    let run = tokio::spawn(subscriber.run(std::future::pending()));
    billing.hangs.notified().await;
    run.abort();
    assert!(run.await.is_err_and(|error| error.is_cancelled()));
    assert_eq!(billing.invoices().await?, [0; 0]);
    assert!(!billing.is_recorded("m-9").await?);

    let report = billing
        .subscriber()
        .build(transport.clone())?
        .run(idle(transport))
        .await?;
    assert_eq!((report.handled, report.duplicates), (1, 0), "{report}");
    assert_eq!(billing.invoices().await?, [HANGING]);
    assert!(billing.is_recorded("m-9").await?);
    Ok(())
}

async fn skipped(transport: &EmbeddedTransport) -> anyhow::Result<usize> {
    let outcomes = transport.inspector().drain(Address::RESOLVER, 100).await?;
    let mut skipped = 0;
    for outcome in outcomes {
        skipped += usize::from(Headers::read(&outcome)?.message_type == MessageType::SkipResponse);
    }
    Ok(skipped)
}

/// Resolves when nothing is left to do: no test goes by how long that takes.
async fn idle(transport: EmbeddedTransport) {
    loop {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let left = transport.inspector().queue(ENDPOINT).await;
        if left.is_ok_and(|left| left.ready + left.scheduled + left.parked == 0) {
            return;
        }
    }
}
