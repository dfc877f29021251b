//! A consumer process for the end-to-end tests: handles events from an embedded queue into a
//! ledger until its standard input closes, or until it is killed. With the third argument `claiming`
//! the effects and the records are in one database, and commit together.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use nimbus_inbox_core::{Inbox, InboxSetup};
use nimbus_inbox_sqlite::SqliteInbox;
use nimbus_subscriber::{HandlerContext, HandlerError, Subscriber};
use nimbus_tests::{ENDPOINT, Entry, Ledger, Step, queue};
use tokio::io::AsyncReadExt as _;

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments
        .next()
        .context("the first argument is the directory")?;
    let process = arguments
        .next()
        .context("the second argument names the process")?;
    let directory = Path::new(&directory);

    let claims = arguments.next().is_some_and(|form| form == "claiming");

    let ledger = Ledger::open(directory).await?;
    let transport = queue(directory).await?;
    let subscriber = Subscriber::builder(ENDPOINT).drain_deadline(Duration::from_secs(20));
    let subscriber = if claims {
        // In the file of the effects.
        let store = SqliteInbox::open(ledger.database().path()).await?;
        let inbox = Inbox::new(ENDPOINT, store.clone())?;
        subscriber
            .handle_with((ledger, process, inbox), "Step", handle_in)
            .inbox(InboxSetup::new(store))
    } else {
        let store = SqliteInbox::open(directory.join("inbox.db")).await?;
        subscriber
            .handle_with((ledger, process), "Step", handle)
            .inbox(InboxSetup::new(store))
    };
    subscriber
        .build(transport)?
        .run(async {
            // Both the end of the input and an error mean that the parent is done.
            let _ = tokio::io::stdin().read(&mut [0]).await;
        })
        .await?;
    Ok(())
}

async fn handle(
    (ledger, process): (Ledger, String),
    step: Step,
    context: HandlerContext,
) -> Result<(), HandlerError> {
    ledger.enter(entry(step, &context, process)).await?;
    Ok(())
}

/// As [`handle`], with the effect in the transaction that records the message.
async fn handle_in(
    (ledger, process, inbox): (Ledger, String, Inbox<SqliteInbox>),
    step: Step,
    context: HandlerContext,
) -> Result<(), HandlerError> {
    let entry = entry(step, &context, process);
    let work = context.process_in(&inbox, ledger.database(), async |tx| {
        Ledger::enter_in(tx, entry).await?;
        Ok(())
    });
    work.await
}

fn entry(step: Step, context: &HandlerContext, process: String) -> Entry {
    Entry {
        session: context.session_id().unwrap_or_default().to_owned(),
        number: step.number,
        process,
    }
}
