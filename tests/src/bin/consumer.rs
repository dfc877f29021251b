//! A consumer process for the end-to-end tests: handles events from an embedded queue into a
//! ledger until its standard input closes, or until it is killed.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use nimbus_inbox_core::InboxSetup;
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

    let ledger = Ledger::open(directory).await?;
    let inbox = SqliteInbox::open(directory.join("inbox.db")).await?;
    Subscriber::builder(ENDPOINT)
        .handle_with((ledger, process), "Step", handle)
        .inbox(InboxSetup::new(inbox))
        .drain_deadline(Duration::from_secs(20))
        .build(queue(directory).await?)?
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
    let session = context.session_id().unwrap_or_default().to_owned();
    let entry = Entry {
        session,
        number: step.number,
        process,
    };
    ledger.enter(entry).await?;
    Ok(())
}
