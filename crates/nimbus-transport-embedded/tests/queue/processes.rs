//! Real processes on one file, killed at random.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender as Channel, channel};
use std::time::Duration;

use nimbus_messaging::Transport;
use nimbus_transport_embedded::{EmbeddedOptions, EmbeddedTransport};

use crate::support::{billing, message, sender};

const TEST: &str = "processes::killed_consumers_lose_and_reorder_nothing";
const FILE: &str = "NIMBUS_QUEUE_FILE_OF_CHILD";
const SESSIONS: usize = 8;
const MESSAGES: usize = 400;
const KILLS: usize = 6;

fn options() -> EmbeddedOptions {
    EmbeddedOptions::default()
        .with_lock_duration(Duration::from_millis(300))
        // Kills of the child are no fault of the message.
        .with_delivery_limit(std::num::NonZeroU32::MAX)
}

/// SUB-33: consumers that are killed at any point lose no message, and each session's messages are
/// first handled in the order they were sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_consumers_lose_and_reorder_nothing() {
    if let Some(file) = std::env::var_os(FILE) {
        consume(Path::new(&file)).await;
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("queue.db");
    let transport = EmbeddedTransport::open_with(&path, options())
        .await
        .expect("a fresh file");
    transport.verify(&billing()).await.expect("declared");

    let (lines, handled) = channel();
    let mut consumers: Vec<Child> = (0..2).map(|_| spawn(&path, &lines)).collect();
    let sending = tokio::spawn({
        let transport = transport.clone();
        async move {
            for batch in 0..MESSAGES / SESSIONS {
                let messages = (0..SESSIONS).map(|session| {
                    message(
                        &session.to_string(),
                        &(batch * SESSIONS + session).to_string(),
                    )
                });
                sender(&transport)
                    .await
                    .send(messages.collect())
                    .await
                    .expect("sent");
            }
        }
    });
    let seen = tokio::task::spawn_blocking(move || {
        let seen = watch(&path, &lines, &handled, &mut consumers);
        for mut consumer in consumers {
            consumer.kill().expect("a child");
            consumer.wait().expect("a child");
        }
        seen
    })
    .await
    .expect("no panic");
    sending.await.expect("no panic");

    for (session, ids) in &seen {
        let first_handled = ids.iter().fold(Vec::new(), |mut firsts, id| {
            if !firsts.contains(id) {
                firsts.push(*id);
            }
            firsts
        });
        let sent: Vec<usize> = (*session..MESSAGES).step_by(SESSIONS).collect();
        assert_eq!(first_handled, sent, "session {session}");
    }
    assert_eq!(seen.len(), SESSIONS);
}

/// Collects what the consumers handled until every message was, and kills them on the way.
fn watch(
    path: &Path,
    lines: &Channel<(usize, usize)>,
    handled: &Receiver<(usize, usize)>,
    consumers: &mut [Child],
) -> BTreeMap<usize, Vec<usize>> {
    let mut seen: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut distinct = std::collections::BTreeSet::new();
    let mut kills = 0;
    while distinct.len() < MESSAGES {
        let (session, id) = handled
            .recv_timeout(Duration::from_secs(60))
            .expect("the consumers go on");
        seen.entry(session).or_default().push(id);
        distinct.insert(id);
        if kills < KILLS && distinct.len() > (kills + 1) * MESSAGES / (KILLS + 2) {
            let victim = &mut consumers[kills % 2];
            victim.kill().expect("a child");
            victim.wait().expect("a child");
            *victim = spawn(path, lines);
            kills += 1;
        }
    }
    assert_eq!(kills, KILLS);
    seen
}

/// Runs this test in a process of its own; what it handles comes as lines.
fn spawn(path: &Path, lines: &Channel<(usize, usize)>) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args([TEST, "--exact", "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("a child");
    let output = BufReader::new(child.stdout.take().expect("piped"));
    let lines = lines.clone();
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let numbers = line.strip_prefix("handled ").and_then(|rest| {
                let (session, id) = rest.split_once(' ')?;
                Some((session.parse().ok()?, id.parse().ok()?))
            });
            if let Some(numbers) = numbers {
                // Nobody listens any more once everything was handled.
                let _ = lines.send(numbers);
            }
        }
    });
    child
}

/// Handles until it is killed: a line is the effect, and comes before the settlement.
async fn consume(file: &Path) {
    let transport = EmbeddedTransport::open_with(file, options())
        .await
        .expect("made by the parent");
    let mut lanes = transport.lanes(&billing()).await.expect("declared");
    loop {
        let lane = lanes.accept_next().await.expect("the file answers");
        let mut lane = lane.expect("not stopped");
        tokio::spawn(async move {
            while let Ok(Some(delivery)) = lane.receive(Duration::from_millis(20)).await {
                let session = delivery.envelope.session_id.unwrap_or_default();
                let id = delivery.envelope.message_id.unwrap_or_default();
                if lane.lock().renew().await.is_err() {
                    return;
                }
                writeln!(std::io::stdout(), "handled {session} {id}").expect("a pipe");
                if delivery.receipt.complete().await.is_err() {
                    return;
                }
            }
            // A lock that is lost ends by itself.
            let _ = lane.release().await;
        });
    }
}
