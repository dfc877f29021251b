//! The embedded transport passes the transport conformance suite, each connection with a handle of
//! its own on one file, as two processes have.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nimbus_inbox_testing::{
    DeadLettered, ManualClock, Namespace, TransportConformance, TransportUnderTest,
};
use nimbus_messaging::TransportError;
use nimbus_sqlite::rusqlite::Connection;
use nimbus_transport_embedded::{EmbeddedOptions, EmbeddedTransport};

const LIMIT: NonZeroU32 = NonZeroU32::new(4).expect("not zero");

/// How long a call waits for the file. Short, because a case about broken connections lasts longer.
const PATIENCE: Duration = Duration::from_secs(2);

async fn connect(ns: Namespace) -> Result<TransportUnderTest, TransportError> {
    let clock = ns.shared(ManualClock::default);
    let path = ns.directory().join("queue.db");
    let options = EmbeddedOptions::default()
        .with_clock(clock.clone())
        .with_delivery_limit(LIMIT)
        .with_poll_interval(Duration::from_millis(2))
        .with_busy_timeout(PATIENCE);
    let transport = EmbeddedTransport::open_with(&path, options).await?;
    let inspector = transport.inspector();
    Ok(TransportUnderTest::new(transport)
        .with_clock(clock)
        .with_delivery_limit(LIMIT.get())
        .with_dead_letters(move |endpoint| {
            let inspector = inspector.clone();
            async move {
                let dead = inspector.dead_letters(endpoint.as_str(), 100).await?;
                Ok(dead
                    .into_iter()
                    .map(|dead| DeadLettered {
                        message_id: dead.envelope.message_id,
                        reason: dead.reason,
                        description: dead.description,
                    })
                    .collect())
            }
        })
        .with_cut(move || hold_for_too_long(path.clone())))
}

/// A file has no connection to cut. What breaks here is that somebody else writes for longer than
/// anybody waits.
async fn hold_for_too_long(path: PathBuf) {
    let hold = move |path: &Path| {
        let stranger = Connection::open(path)?;
        stranger.busy_timeout(PATIENCE)?;
        stranger.execute_batch("begin immediate")?;
        thread::sleep(PATIENCE + PATIENCE / 4);
        stranger.execute_batch("rollback")
    };
    let held = tokio::task::spawn_blocking(move || hold(&path)).await;
    held.expect("no panic").expect("the file is ours");
}

nimbus_inbox_testing::conformance!(suites: TransportConformance::new("embedded", connect));
