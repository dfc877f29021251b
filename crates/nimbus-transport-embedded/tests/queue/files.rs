//! Files that are not ours, and places that can't be written.

use std::fs;

use nimbus_messaging::{Transport, TransportError, TransportErrorKind};
use nimbus_transport_embedded::{EmbeddedOptions, EmbeddedTransport};

use crate::support::*;

#[track_caller]
fn assert_configuration<T: std::fmt::Debug>(outcome: Result<T, TransportError>, says: &str) {
    let error = outcome.expect_err("it can't work");
    assert_eq!(error.kind(), TransportErrorKind::Configuration, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[tokio::test]
async fn a_picture_is_refused_and_left_untouched() {
    let machine = Machine::new();
    let picture = [b"\xff\xd8\xff\xe0\x00\x10JFIF\x00".as_slice(), &[7; 8_192]].concat();
    fs::write(machine.path(), &picture).expect("writable");
    let opened = EmbeddedTransport::open(machine.path()).await;
    assert_configuration(opened, "not a SQLite database");
    assert_eq!(fs::read(machine.path()).expect("readable"), picture);
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_refused() {
    for path in [
        "/proc/nimbus-queue.db",
        "/no/such/directory/queue.db",
        "/tmp",
        "",
    ] {
        let opened = EmbeddedTransport::open(path).await;
        assert_configuration(opened, path);
    }
}

#[tokio::test]
async fn a_damaged_file_is_an_error_that_says_so() {
    let machine = Machine::new();
    let transport = machine.process().await;
    for _ in 0..20 {
        send(&transport, &[("s", &"x".repeat(2_000))]).await;
    }
    drop(transport);
    // The last handle writes the log back before it goes, on its own threads.
    let mut bytes = loop {
        let log = machine.path().with_extension("db-wal");
        if !log.exists() {
            break fs::read(machine.path()).expect("readable");
        }
        tokio::task::yield_now().await;
    };
    let header = 100;
    bytes[header..].fill(0xa5);
    fs::write(machine.path(), bytes).expect("writable");
    let opened = EmbeddedTransport::open(machine.path()).await;
    assert_configuration(opened, "damaged");
}

#[tokio::test]
async fn missing_tables_are_named_with_the_command_that_makes_them() {
    let machine = Machine::new();
    let options = machine.options().with_auto_create(false);
    let opened = EmbeddedTransport::open_with(machine.path(), options.clone()).await;
    let error = opened.expect_err("an empty file");
    assert_eq!(error.kind(), TransportErrorKind::Configuration);
    let command = format!(
        "cargo xtask provision --embedded {}",
        machine.path().display()
    );
    for part in ["nimbus_queue_message", &command] {
        assert!(error.to_string().contains(part), "{error}");
    }
    machine.process().await;
    EmbeddedTransport::open_with(machine.path(), options)
        .await
        .expect("made now");
}

#[tokio::test]
async fn options_that_cannot_work_are_refused_together() {
    use std::time::Duration;

    let machine = Machine::new();
    let options = EmbeddedOptions::default()
        .with_lock_duration(Duration::ZERO)
        .with_poll_interval(Duration::ZERO)
        .with_message_size_limit(0);
    let opened = EmbeddedTransport::open_with(machine.path(), options).await;
    let text =
        "the lock duration is zero; the poll interval is zero; the message size limit is zero";
    assert_configuration(opened, text);
    assert!(!machine.path().exists());
}

/// The statements may run by hand, and again.
#[tokio::test]
async fn tables_that_were_made_by_hand_are_accepted() {
    let machine = Machine::new();
    let by_hand = nimbus_sqlite::rusqlite::Connection::open(machine.path()).expect("a file");
    for _ in 0..2 {
        let made = by_hand.execute_batch(&nimbus_transport_embedded::ddl());
        made.expect("they tolerate to run again");
    }
    drop(by_hand);
    for create in [false, true] {
        let options = machine.options().with_auto_create(create);
        let transport = machine.process_with(options).await;
        let queues = transport.inspector().queues().await.expect("readable");
        assert_eq!(queues.len(), 3);
    }
}

/// Tables that vanish under a running transport are named too.
#[tokio::test]
async fn a_table_that_was_dropped_is_named() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let stranger = nimbus_sqlite::rusqlite::Connection::open(machine.path()).expect("a file");
    stranger
        .execute_batch("drop table nimbus_queue_parked")
        .expect("it is there");
    drop(stranger);
    let parked = transport
        .inspector()
        .parked("BillingEndpoint", &session("s"), 1)
        .await;
    assert_configuration(parked, "nimbus_queue_parked");
    assert_eq!(transport.name(), "embedded");
}

/// A row that a hand damaged costs its own dead-lettering, not its session.
#[tokio::test]
async fn an_unreadable_row_goes_to_the_dead_letter_queue() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let stranger = nimbus_sqlite::rusqlite::Connection::open(machine.path()).expect("a file");
    let damaged = stranger.execute(
        "update nimbus_queue_message set properties = 'not JSON' where message_id = '1'",
        (),
    );
    assert_eq!(damaged, Ok(1));
    assert_eq!(complete_all(&mut accept(&transport).await).await, ["2"]);
    let inspector = transport.inspector();
    let dead = inspector.dead_letters("BillingEndpoint", 10).await;
    let dead = dead.expect("it can be looked at");
    assert_eq!(dead.len(), 1);
    assert_eq!(
        dead[0].reason,
        nimbus_transport_embedded::UNREADABLE_MESSAGE
    );
    assert_eq!(dead[0].envelope.message_id.as_deref(), Some("1"));
}
