//! Tables that are made, found or missed.

use nimbus_sqlite::{Database, ErrorKind, OpenOptions, Schema};

use crate::support::{Fixture, insert, items};

#[tokio::test]
async fn tables_are_made_once() {
    let fixture = Fixture::new().await;
    fixture
        .database
        .write(|tx| insert(tx, "a"))
        .await
        .expect("the table exists");
    let before = fixture.database.stats();
    fixture
        .database
        .ensure_schema(items())
        .await
        .expect("they exist");
    fixture
        .database
        .verify_schema(items())
        .await
        .expect("they exist");
    assert_eq!(fixture.database.stats(), before, "looking is enough");
    assert_eq!(fixture.names().await, ["a"]);
}

#[tokio::test]
async fn several_schemas_share_a_file_and_advance_by_steps() {
    let fixture = Fixture::new().await;
    let first = Schema::new("queue")
        .with_table("message")
        .with_step("create table if not exists message (sequence integer primary key) strict");
    fixture
        .database
        .ensure_schema(first.clone())
        .await
        .expect("a new schema");
    let second = first.with_step("alter table message add column body blob");
    let error = fixture
        .database
        .verify_schema(second.clone())
        .await
        .expect_err("a step is missing");
    assert_eq!(error.kind(), ErrorKind::SchemaVersion);
    fixture
        .database
        .ensure_schema(second.clone())
        .await
        .expect("a new step");
    fixture
        .database
        .ensure_schema(second)
        .await
        .expect("steps run once");
    fixture
        .database
        .write(|tx| tx.execute("insert into message (body) values (x'00')", ()))
        .await
        .expect("the column exists");
    fixture
        .database
        .verify_schema(items())
        .await
        .expect("the other schema is untouched");
}

#[tokio::test]
async fn newer_tables_are_refused_and_left_alone() {
    let fixture = Fixture::new().await;
    let newer = items().with_step("alter table item add column extra text");
    fixture
        .database
        .ensure_schema(newer.clone())
        .await
        .expect("a new step");
    for outcome in [
        fixture.database.ensure_schema(items()).await,
        fixture.database.verify_schema(items()).await,
    ] {
        let error = outcome.expect_err("the tables are newer");
        assert_eq!(error.kind(), ErrorKind::SchemaVersion);
        assert!(error.is_configuration());
        assert!(
            error
                .to_string()
                .contains("items has version 2, needed is 1"),
            "{error}"
        );
    }
    fixture
        .database
        .verify_schema(newer)
        .await
        .expect("still there");
}

#[tokio::test]
async fn verifying_names_what_is_missing_and_makes_nothing() {
    let fixture = Fixture::new().await;
    let schema = Schema::new("two")
        .with_table("item")
        .with_table("absent")
        .with_step("create table if not exists absent (a text) strict");
    let error = fixture
        .database
        .verify_schema(schema.clone())
        .await
        .expect_err("one is missing");
    assert_eq!(error.kind(), ErrorKind::MissingTable);
    assert!(error.is_configuration());
    assert!(error.to_string().contains(": absent"), "{error}");
    fixture
        .database
        .verify_schema(schema)
        .await
        .expect_err("still missing");
}

#[tokio::test]
async fn tables_made_by_hand_are_accepted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = Database::open(directory.path().join("test.db"), OpenOptions::default())
        .await
        .expect("a fresh file");
    database
        .write(|tx| tx.execute_batch(&items().ddl()))
        .await
        .expect("plain statements");
    database
        .verify_schema(items())
        .await
        .expect("nobody recorded a version, and none is needed");
    database
        .ensure_schema(items())
        .await
        .expect("steps tolerate what is there");
}

#[tokio::test]
async fn a_table_that_is_dropped_while_in_use_is_named() {
    let fixture = Fixture::new().await;
    fixture
        .stranger()
        .execute_batch("drop table item")
        .expect("nobody else writes");
    let write = fixture.database.write(|tx| insert(tx, "a")).await.map(drop);
    let read = fixture.database.read(crate::support::names).await.map(drop);
    let tx = fixture.database.transaction().await.expect("nobody else");
    let call = tx.call(|tx| insert(tx, "a")).await.map(drop);
    for outcome in [write, read, call] {
        let error = outcome.expect_err("the table is gone");
        assert_eq!(error.kind(), ErrorKind::MissingTable);
        assert!(error.to_string().ends_with(": item"), "{error}");
    }
    drop(tx);
    fixture
        .database
        .ensure_schema(items())
        .await
        .expect("made again");
    fixture
        .database
        .write(|tx| insert(tx, "a"))
        .await
        .expect("the table is back");
}

#[tokio::test]
async fn a_mistake_in_a_statement_is_not_taken_for_a_missing_table() {
    let fixture = Fixture::new().await;
    let error = fixture
        .database
        .write(|tx| tx.execute("insert into", ()))
        .await
        .expect_err("a mistake");
    assert_eq!(error.kind(), ErrorKind::Other);
}
