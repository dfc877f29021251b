//! A process that is killed while it records.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use nimbus_inbox_core::{Inbox, InboxStoreExt};
use nimbus_inbox_sqlite::SqliteInbox;
use nimbus_inbox_testing::key;

use crate::support::{child, directory, place_of_parent, recorded, this_program};

/// Says that a record was acknowledged, in the output of the child.
const ACKNOWLEDGED: &str = "acknowledged ";
const EFFECTS: &str = "create table if not exists effect (id text not null) strict";

/// INB-25, INB-40, INB-41: what was acknowledged is there, the file is intact, and no effect
/// stands without its record.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_before_a_kill_is_there_after_it() {
    if let Some(path) = place_of_parent() {
        return record_until_killed(&path).await;
    }
    let directory = directory();
    let path = directory.path().join("inbox.db");
    let mut acknowledged = Vec::new();
    // The second and third process begin with the log that the one before left.
    for _ in 0..3 {
        acknowledged.extend(acknowledged_before_a_kill(&path));
        let inbox = SqliteInbox::open(&path).await.expect("an intact file");
        let found = recorded(&inbox, &acknowledged).await;
        assert_eq!(found, acknowledged.len(), "of the acknowledged records");
        let (integrity, effects, records): (String, i64, i64) = inbox
            .database()
            .read(|tx| {
                let integrity = tx.query_row("PRAGMA integrity_check", (), |row| row.get(0))?;
                let count = |sql| tx.query_row(sql, (), |row| row.get(0));
                Ok((
                    integrity,
                    count("select count(*) from effect")?,
                    count("select count(*) from nimbus_inbox where endpoint_id = 'Effects'")?,
                ))
            })
            .await
            .expect("reads");
        assert_eq!(integrity, "ok");
        assert_eq!(effects, records, "effects and records commit together");
        assert!(effects > 0);
    }
}

fn acknowledged_before_a_kill(path: &Path) -> Vec<nimbus_inbox_core::InboxKey> {
    let test = "kill::what_was_acknowledged_before_a_kill_is_there_after_it";
    let mut child = child(&this_program(), test, path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut acknowledged = Vec::new();
    let mut line = String::new();
    while output.read_line(&mut line).expect("readable") > 0 {
        // The kill may cut the last line.
        let whole = line.strip_suffix('\n');
        if let Some(id) = whole.and_then(|line| line.strip_prefix(ACKNOWLEDGED)) {
            let (endpoint, id) = id.split_once(' ').expect("both are written");
            acknowledged.push(key(endpoint, id));
        }
        line.clear();
        if acknowledged.len() == 150 {
            child.kill().expect("it runs");
        }
    }
    assert!(!child.wait().expect("a child").success(), "it was killed");
    assert!(acknowledged.len() >= 150);
    acknowledged
}

/// Half of the tasks record; the others have an effect and record in its transaction.
async fn record_until_killed(path: &Path) {
    let store = SqliteInbox::open(path).await.expect("a good file");
    let database = store.database().clone();
    database
        .write(|tx| tx.execute_batch(EFFECTS))
        .await
        .expect("a good file");
    let inbox = Inbox::new("Effects", store.clone()).expect("usable");
    let process = std::process::id();
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..8 {
        let (store, database, inbox) = (store.clone(), database.clone(), inbox.clone());
        tasks.spawn(async move {
            for number in 0.. {
                let id = format!("{process}-{task}-{number}");
                let endpoint = if task % 2 == 0 {
                    store
                        .record_one(&key("Billing", &id))
                        .await
                        .expect("a record");
                    "Billing"
                } else {
                    let effect = id.clone();
                    let outcome = inbox
                        .process_in(&database, &id, async |tx| {
                            tx.call(|tx| tx.execute("insert into effect values (?1)", [effect]))
                                .await?;
                            anyhow::Ok(())
                        })
                        .await;
                    outcome.expect("a transaction");
                    "Effects"
                };
                let line = format!("{ACKNOWLEDGED}{endpoint} {id}\n");
                std::io::stdout()
                    .write_all(line.as_bytes())
                    .expect("the parent reads");
            }
        });
    }
    // Without a parent that reads, all of them fail.
    let ended = tasks.join_next().await;
    panic!("a task ended before the kill: {ended:?}");
}
