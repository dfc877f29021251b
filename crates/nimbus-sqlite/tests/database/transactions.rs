//! Transactions that are held across awaits.

use nimbus_sqlite::{Database, ErrorKind, OpenOptions, SqliteError};
use tokio::task::JoinSet;

use crate::support::{Fixture, insert, names, start_and_drop};

#[tokio::test]
async fn a_commit_is_seen_and_not_before() {
    let fixture = Fixture::new().await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    tx.call(|tx| insert(tx, "a")).await.expect("a new name");
    assert_eq!(tx.call(names).await.expect("reads"), ["a"]);
    assert_eq!(fixture.names().await, [""; 0]);
    tx.commit().await.expect("it is open");
    assert_eq!(fixture.names().await, ["a"]);
}

#[tokio::test]
async fn a_transaction_that_is_dropped_or_rolled_back_leaves_nothing() {
    let fixture = Fixture::new().await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    tx.call(|tx| insert(tx, "dropped"))
        .await
        .expect("a new name");
    drop(tx);
    let tx = fixture
        .database
        .transaction()
        .await
        .expect("the first is over");
    tx.call(|tx| insert(tx, "rolled back"))
        .await
        .expect("a new name");
    tx.rollback().await.expect("it is open");
    fixture
        .database
        .write(|tx| insert(tx, "kept"))
        .await
        .expect("both are over");
    assert_eq!(fixture.names().await, ["kept"]);
}

#[tokio::test]
async fn a_commit_that_was_never_polled_rolls_back() {
    let fixture = Fixture::new().await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    tx.call(|tx| insert(tx, "a")).await.expect("a new name");
    drop(tx.commit());
    fixture
        .database
        .write(|tx| insert(tx, "b"))
        .await
        .expect("it is over");
    assert_eq!(fixture.names().await, ["b"]);
}

#[tokio::test]
async fn a_call_that_fails_or_panics_is_undone_alone() {
    let fixture = Fixture::new().await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    tx.call(|tx| insert(tx, "a")).await.expect("a new name");
    let error = tx
        .call(|tx| {
            insert(tx, "half done")?;
            insert(tx, "a")
        })
        .await
        .expect_err("the name is taken");
    assert_eq!(error.kind(), ErrorKind::Constraint);
    let error = tx
        .call(|tx| {
            insert(tx, "half done")?;
            if tx.is_autocommit() {
                Ok(())
            } else {
                panic!("a defect in a closure")
            }
        })
        .await
        .expect_err("it panicked");
    assert_eq!(error.kind(), ErrorKind::Panicked);
    tx.call(|tx| insert(tx, "b"))
        .await
        .expect("the transaction goes on");
    tx.commit().await.expect("it is open");
    assert_eq!(fixture.names().await, ["a", "b"]);
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_leaves_the_transaction_open() {
    let fixture = Fixture::new().await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    start_and_drop(tx.call(|tx| insert(tx, "a")));
    assert_eq!(
        tx.call(names).await.expect("the transaction goes on"),
        ["a"]
    );
    assert_eq!(fixture.names().await, [""; 0], "committed by accident");
    drop(tx);
    fixture
        .database
        .write(|tx| insert(tx, "b"))
        .await
        .expect("it is over");
    assert_eq!(fixture.names().await, ["b"]);
}

async fn count_up(database: Database) -> Result<(), SqliteError> {
    let tx = database.transaction().await?;
    let count: i64 = tx
        .call(|tx| tx.query_row("select count(*) from item", (), |row| row.get(0)))
        .await?;
    // Anything between reading and writing would be lost without the lock.
    tokio::task::yield_now().await;
    tx.call(move |tx| insert(tx, &format!("{count:03}")))
        .await?;
    tx.commit().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_transactions_at_once_run_one_after_the_other() {
    let fixture = Fixture::new().await;
    let other = Database::open(fixture.path(), OpenOptions::default())
        .await
        .expect("the same file");
    let mut tasks = JoinSet::new();
    for index in 0..64 {
        let database = if index % 2 == 0 {
            &fixture.database
        } else {
            &other
        };
        tasks.spawn(count_up(database.clone()));
    }
    for outcome in tasks.join_all().await {
        outcome.expect("its turn came");
    }
    let expected: Vec<String> = (0..64).map(|count| format!("{count:03}")).collect();
    assert_eq!(fixture.names().await, expected);
}

/// INB-41: of concurrent first deliveries one runs, the others wait, and are
/// skipped when it commits.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_concurrent_claims_one_wins_and_the_others_see_it() {
    let fixture = Fixture::new().await;
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let database = fixture.database.clone();
        tasks.spawn(async move {
            let tx = database.transaction().await?;
            let claimed = tx
                .call(|tx| tx.execute("insert or ignore into item (name) values ('claim')", ()))
                .await?;
            tokio::task::yield_now().await;
            tx.commit().await.map(|()| claimed)
        });
    }
    let claims = tasks
        .join_all()
        .await
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .expect("no conflict");
    assert_eq!(claims.into_iter().sum::<usize>(), 1);
}

#[tokio::test]
async fn a_transaction_may_be_held_by_a_spawned_task() {
    let fixture = Fixture::new().await;
    tokio::spawn(count_up(fixture.database.clone()))
        .await
        .expect("no panic")
        .expect("nobody else");
    assert_eq!(fixture.names().await, ["000"]);
}
