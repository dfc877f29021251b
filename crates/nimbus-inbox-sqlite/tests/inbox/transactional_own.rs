//! The record in a transaction that the caller opened with rusqlite (INB-41).

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nimbus_inbox_core::{InboxStore, InboxStoreExt, Recorded};
use nimbus_inbox_sqlite::rusqlite::{Connection, TransactionBehavior};
use nimbus_inbox_testing::key;

use crate::support::{Fixture, keys};
use crate::transactional::Ledger;

fn patient(fixture: &Fixture) -> Connection {
    let connection = fixture.stranger();
    connection
        .busy_timeout(Duration::from_secs(60))
        .expect("a setting");
    connection
}

/// INB-41: the second claim waits for the first, and sees what became of it.
#[tokio::test]
async fn a_claim_waits_for_the_transaction_before_it() {
    let fixture = Fixture::new().await;
    fixture.inbox.verify().await.expect("a fresh file");
    for (commits, id, expected) in [
        (true, "committed", Recorded::Already),
        (false, "rolled back", Recorded::Now),
    ] {
        let one = [key("Billing", id)];
        let mut first = patient(&fixture);
        let tx = first
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .expect("nobody else");
        let claimed = fixture.inbox.record_in(&tx, &one).expect("a claim");
        assert_eq!(claimed, [Recorded::Now]);

        let (starting, is_starting) = mpsc::channel();
        let (inbox, mut second) = (fixture.inbox.clone(), patient(&fixture));
        let other = one.clone();
        let waiting = thread::spawn(move || {
            starting.send(()).expect("the test waits");
            let tx = second
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .expect("its turn comes");
            let claimed = inbox.record_in(&tx, &other).expect("a claim");
            tx.commit().expect("it is open");
            claimed
        });
        is_starting.recv().expect("it runs");
        if commits {
            tx.commit().expect("it is open");
        } else {
            tx.rollback().expect("it is open");
        }
        assert_eq!(waiting.join().expect("no panic"), [expected]);
        let found = fixture.inbox.check_one(&one[0]).await.expect("a check");
        assert!(found.is_some());
    }
}

/// INB-15: several keys in order, and one that stands twice.
#[tokio::test]
async fn it_answers_every_key_in_order() {
    let fixture = Fixture::new().await;
    let all = keys("order", 3);
    fixture.inbox.record(&all[1..2]).await.expect("a record");
    let mut connection = fixture.stranger();
    let tx = connection.transaction().expect("nobody else");
    let batch = [&all[0], &all[1], &all[0], &all[2]].map(Clone::clone);
    let outcome = fixture.inbox.record_in(&tx, &batch).expect("records");
    assert_eq!(
        outcome,
        [
            Recorded::Now,
            Recorded::Already,
            Recorded::Already,
            Recorded::Now
        ]
    );
    tx.rollback().expect("it is open");
    let left = fixture.inbox.check(&all).await.expect("a check");
    assert_eq!(
        left.iter().map(Option::is_some).collect::<Vec<_>>(),
        [false, true, false]
    );
}

/// INB-41: also in a write that shares its commit with others.
#[tokio::test]
async fn it_can_be_part_of_a_shared_write() {
    let ledger = Ledger::new().await;
    for expected in [Recorded::Now, Recorded::Already] {
        let (inbox, keys) = (ledger.fixture.inbox.clone(), keys("order", 1));
        let claimed = ledger
            .database
            .write(move |tx| {
                let claimed = inbox.record_in(tx, &keys)?;
                if claimed == [Recorded::Now] {
                    tx.execute("insert into effect values ('order-0')", ())?;
                }
                Ok(claimed)
            })
            .await
            .expect("a write");
        assert_eq!(claimed, [expected]);
    }
    assert_eq!(ledger.counts().await, (1, 1));
}
