//! Tables that are missing, rows that nobody can read, a file that is closed.

use std::num::NonZeroU32;

use nimbus_inbox_sqlite::SqliteSessions;
use nimbus_messaging::{SessionState, SessionStore, StateVersion, TransportErrorKind};

use crate::support::{Fixture, copy, endpoint, session, stranger, written};

#[tokio::test]
async fn missing_tables_that_may_not_be_created_are_named() {
    let fixture = Fixture::new().await;
    let strict =
        SqliteSessions::new(fixture.database.clone(), endpoint("Billing")).with_auto_create(false);
    let s = session("s");
    for error in [
        strict.verify().await.expect_err("no tables"),
        strict.fence(&s).await.expect_err("no tables"),
        strict.read(&s).await.expect_err("no tables"),
    ] {
        assert_eq!(error.kind(), TransportErrorKind::Configuration);
        let text = error.to_string();
        let command = format!(
            "cargo xtask provision --sessions {}",
            fixture.path().display()
        );
        assert!(
            text.contains("nimbus_session, nimbus_session_parked") && text.contains(&command),
            "{text}"
        );
    }
    stranger(&fixture.path())
        .execute_batch(&SqliteSessions::ddl())
        .expect("plain statements");
    strict.verify().await.expect("tables made by hand");
    strict.fence(&s).await.expect("fences");
}

#[tokio::test]
async fn a_row_that_nobody_can_read_is_named() {
    let fixture = Fixture::new().await;
    let s = session("s");
    let parked = copy(3, "order-3", "{}");
    let outcome = fixture
        .sessions
        .park(&s, &parked, &SessionState::default(), StateVersion(0))
        .await;
    written(outcome.expect("parks"));
    stranger(&fixture.path())
        .execute_batch(
            "update nimbus_session set state = '[1'; update nimbus_session_parked set envelope = ''",
        )
        .expect("nobody else writes");
    let error = fixture.sessions.fence(&s).await.expect_err("no JSON");
    assert_eq!(error.kind(), TransportErrorKind::Configuration);
    assert!(error.to_string().contains("in nimbus_session"), "{error}");
    let limit = NonZeroU32::MIN;
    let error = fixture.sessions.parked(&s, limit).await.expect_err("empty");
    assert_eq!(error.kind(), TransportErrorKind::Configuration);
    assert!(error.to_string().contains("order-3"), "{error}");
}

#[tokio::test]
async fn a_closed_file_is_a_transient_error() {
    let fixture = Fixture::new().await;
    fixture.sessions.verify().await.expect("a fresh file");
    fixture.database.close().await;
    let error = fixture
        .sessions
        .fence(&session("s"))
        .await
        .expect_err("closed");
    assert!(error.is_transient(), "{error}");
}
