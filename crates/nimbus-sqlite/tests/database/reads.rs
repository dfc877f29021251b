//! Reads beside the writer.

use nimbus_sqlite::ErrorKind;

use crate::support::{Fixture, HeldWriter, insert, names};

#[tokio::test]
async fn a_read_sees_what_was_answered_before() {
    let fixture = Fixture::new().await;
    for count in 1..=50 {
        fixture
            .database
            .write(move |tx| insert(tx, &count.to_string()))
            .await
            .expect("a new name");
        assert_eq!(fixture.names().await.len(), count);
    }
}

#[tokio::test]
async fn a_read_does_not_wait_for_a_write() {
    let fixture = Fixture::new().await;
    let held = HeldWriter::new(&fixture.database);
    assert_eq!(fixture.names().await, [""; 0]);
    held.release().await;
}

#[tokio::test]
async fn all_statements_of_a_read_see_one_snapshot() {
    let fixture = Fixture::new().await;
    let stranger = fixture.stranger();
    let (first, second) = fixture
        .database
        .read(move |tx| {
            let first = names(tx)?;
            stranger.execute("insert into item (name) values ('between')", ())?;
            Ok((first, names(tx)?))
        })
        .await
        .expect("reads");
    assert_eq!(first, second);
    assert_eq!(fixture.names().await, ["between"]);
}

#[tokio::test]
async fn a_read_changes_nothing() {
    let fixture = Fixture::new().await;
    fixture
        .database
        .read(|tx| insert(tx, "a"))
        .await
        .expect_err("it is a read");
    assert_eq!(fixture.names().await, [""; 0]);
}

#[tokio::test]
async fn a_panic_in_a_read_is_told_to_its_caller_and_harms_no_other() {
    let fixture = Fixture::new().await;
    for _ in 0..8 {
        let error = fixture
            .database
            .read(|tx| {
                if tx.is_autocommit() {
                    Ok(())
                } else {
                    panic!("a defect in a closure")
                }
            })
            .await
            .expect_err("it panicked");
        assert_eq!(error.kind(), ErrorKind::Panicked);
    }
    assert_eq!(fixture.names().await, [""; 0]);
}
