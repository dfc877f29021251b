//! A handler in a subscriber that records the message in a transaction of its own.

use std::time::Duration;

use nimbus_inbox_core::{Inbox, InboxStoreExt};
use nimbus_inbox_sqlite::{Database, SqliteInbox};
use nimbus_inbox_testing::key;
use nimbus_messaging::{Address, EventRequest, Transport};
use nimbus_subscriber::{HandlerContext, HandlerError, RetryPolicy, Subscriber};
use nimbus_tests::{ENDPOINT, Step, queue};

#[derive(Clone)]
struct Billing {
    inbox: Inbox<SqliteInbox>,
    database: Database,
}

/// Fails after its effect the first time.
async fn invoice(
    billing: Billing,
    step: Step,
    context: HandlerContext,
) -> Result<(), HandlerError> {
    let message_id = context.message_id().unwrap_or_default();
    billing
        .inbox
        .process_in(&billing.database, message_id, async |tx| {
            tx.call(move |tx| tx.execute("insert into invoice values (?1)", [step.number]))
                .await?;
            match context.retry_count() {
                0 if step.number == 1 => Err(HandlerError::retry("not yet")),
                _ => Ok(()),
            }
        })
        .await?;
    Ok(())
}

/// INB-41: a subscriber without an inbox, whose handler claims the message by the id that it was
/// first delivered with, has the effects of each message once: of one that is published twice, and
/// of one whose first attempt fails after its effect and whose retry succeeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_claims_for_itself_has_its_effects_once() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let transport = queue(directory.path()).await?;
    transport.declare(ENDPOINT).await?;
    let sender = transport.sender(&Address::new(ENDPOINT)).await?;
    for number in [0, 1] {
        let event = EventRequest::new("Step", &Step { number })?
            .with_message_id(format!("m-{number}"))
            .with_session(format!("s-{number}"))
            .to(ENDPOINT);
        sender.send(vec![event.clone(), event]).await?;
    }

    let store = SqliteInbox::open(directory.path().join("billing.db")).await?;
    let database = store.database().clone();
    database
        .write(|tx| tx.execute_batch("create table invoice (step integer)"))
        .await?;
    let billing = Billing {
        inbox: Inbox::new(ENDPOINT, store)?,
        database: database.clone(),
    };
    let report = Subscriber::builder(ENDPOINT)
        .handle_with(billing.clone(), "Step", invoice)
        .retry(RetryPolicy::fixed(Duration::from_millis(50)))
        .build(transport.clone())?
        .run(idle(transport))
        .await?;

    // Both deliveries of the first enter the handler; of the second its failing one and a retry do.
    assert_eq!(
        (report.handled, report.retries_scheduled),
        (3, 2),
        "{report}"
    );
    let invoices: Vec<u32> = database
        .read(|tx| {
            tx.prepare("select step from invoice order by step")?
                .query_map((), |row| row.get(0))?
                .collect()
        })
        .await?;
    assert_eq!(invoices, [0, 1]);
    for id in ["m-0", "m-1"] {
        let recorded = billing.inbox.store().check_one(&key(ENDPOINT, id)).await?;
        assert!(recorded.is_some(), "{id} is not recorded");
    }
    Ok(())
}

/// Resolves when nothing is left to do: no test goes by how long that takes.
async fn idle(transport: nimbus_transport_embedded::EmbeddedTransport) {
    loop {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let left = transport.inspector().queue(ENDPOINT).await;
        if left.is_ok_and(|left| left.ready + left.scheduled + left.parked == 0) {
            return;
        }
    }
}
