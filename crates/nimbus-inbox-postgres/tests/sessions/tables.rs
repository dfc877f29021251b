//! Tables that are missing, rows that nobody can read, a server that is gone.

use std::num::NonZeroU32;

use nimbus_inbox_core::InboxStore;
use nimbus_inbox_postgres::{PostgresConnection, PostgresSessions};
use nimbus_inbox_testing::ProxyFault;
use nimbus_messaging::{Cas, SessionState, SessionStore, StateVersion, TransportErrorKind};

use crate::server::{self, Schema, stranger};
use crate::support::{Test, cases, proxied};
use crate::world::{Fixture, copy, endpoint, session, written};

pub(crate) const TESTS: &[Test] = cases![
    missing_tables_that_may_not_be_created_are_named,
    sixteen_stores_have_their_first_use_at_once,
    tables_that_were_dropped_are_made_again,
    a_row_that_nobody_can_read_is_named,
    a_write_whose_answer_was_lost_is_found_by_its_version,
    the_role_of_a_service_needs_no_more_than_is_documented,
];

async fn missing_tables_that_may_not_be_created_are_named() {
    let fixture = Fixture::new().await;
    let connection = PostgresConnection::parse(server::address()).expect("an address");
    let options = fixture.schema.options().with_auto_create(false);
    let strict = PostgresSessions::open_with(connection, options, endpoint("Billing"))
        .await
        .expect("nothing is connected yet");
    let s = session("s");
    let name = fixture.schema.name();
    for error in [
        strict.verify().await.expect_err("no tables"),
        strict.fence(&s).await.expect_err("no tables"),
        strict.read(&s).await.expect_err("no tables"),
    ] {
        assert_eq!(error.kind(), TransportErrorKind::Configuration);
        let text = error.to_string();
        let command = format!("cargo xtask provision --postgres-sessions URL --schema {name}");
        let tables = format!("{name}.session_states or {name}.session_parked");
        assert!(text.contains(&tables) && text.contains(&command), "{text}");
    }
    let ddl = PostgresSessions::ddl(name).expect("a usable name");
    stranger()
        .await
        .batch_execute(&ddl)
        .await
        .expect("plain statements");
    strict.verify().await.expect("tables made by hand");
    strict.fence(&s).await.expect("fences");
}

/// INB-27's way of making tables serves these too.
async fn sixteen_stores_have_their_first_use_at_once() {
    let fixture = Fixture::new().await;
    let mut stores = Vec::new();
    for _ in 0..16 {
        stores.push(fixture.elsewhere().await);
    }
    let tasks: Vec<_> = stores
        .into_iter()
        .map(|store| tokio::spawn(async move { store.fence(&session("s")).await }))
        .collect();
    for task in tasks {
        task.await.expect("no panic").expect("fences");
    }
    assert_eq!(fixture.version().await, StateVersion(16));
}

async fn tables_that_were_dropped_are_made_again() {
    let fixture = Fixture::new().await;
    let s = session("s");
    fixture.sessions.fence(&s).await.expect("fences");
    let drop = format!("drop table {}.session_states", fixture.schema.name());
    stranger()
        .await
        .batch_execute(&drop)
        .await
        .expect("nobody uses it");
    let error = fixture.sessions.fence(&s).await.expect_err("no table");
    assert_eq!(error.kind(), TransportErrorKind::Configuration);
    fixture.sessions.fence(&s).await.expect("a new table");
}

async fn a_row_that_nobody_can_read_is_named() {
    let fixture = Fixture::new().await;
    let s = session("s");
    let parked = copy(3, "order-3", "{}");
    let outcome = fixture
        .sessions
        .park(&s, &parked, &SessionState::default(), StateVersion(0))
        .await;
    written(outcome.expect("parks"));
    let name = fixture.schema.name();
    let spoil = format!(
        "update {name}.session_states set state = '[1';
         update {name}.session_parked set envelope = ''"
    );
    stranger()
        .await
        .batch_execute(&spoil)
        .await
        .expect("nobody else writes");
    let error = fixture.sessions.fence(&s).await.expect_err("no JSON");
    assert_eq!(error.kind(), TransportErrorKind::Configuration);
    let table = format!("in {name}.session_states");
    assert!(error.to_string().contains(&table), "{error}");
    let error = fixture.sessions.parked(&s, NonZeroU32::MIN).await;
    let error = error.expect_err("empty");
    assert_eq!(error.kind(), TransportErrorKind::Configuration);
    assert!(error.to_string().contains("order-3"), "{error}");
}

/// SUB-08: whoever does not know whether it wrote has lost the lock.
async fn a_write_whose_answer_was_lost_is_found_by_its_version() {
    let schema = Schema::unique();
    let (proxy, inbox) = proxied(&schema).await;
    let sessions = PostgresSessions::beside(&inbox, endpoint("Billing"));
    let s = session("s");
    let fenced = sessions.fence(&s).await.expect("fences");
    proxy.inject("update", ProxyFault::AnswerLost);
    let state = SessionState::default();
    let write = sessions.write(&s, &state, fenced.version).await;
    let error = write.expect_err("its answer was lost");
    assert!(error.is_transient(), "{error}");
    let again = sessions.write(&s, &state, fenced.version).await;
    assert_eq!(again.expect("a new connection"), Cas::Conflict);
}

/// Least privilege: what is granted is enough for every call.
async fn the_role_of_a_service_needs_no_more_than_is_documented() {
    let fixture = Fixture::new().await;
    fixture.inbox.verify().await.expect("a fresh schema");
    fixture.sessions.verify().await.expect("a fresh schema");
    let role = fixture.schema.name();
    let grants = PostgresSessions::grants(role, role).expect("a usable name");
    let grants = format!("create role \"{role}\"; {grants}");
    stranger()
        .await
        .batch_execute(&grants)
        .await
        .expect("a role");
    let settings = format!("-c role={role}");
    let address = server::with_settings(server::address(), &settings);
    let connection = PostgresConnection::parse(address).expect("an address");
    let options = fixture.schema.options().with_auto_create(false);
    let sessions = PostgresSessions::open_with(connection, options, endpoint("Billing"))
        .await
        .expect("nothing is connected yet");
    sessions.verify().await.expect("all permissions");
    let (s, state) = (session("s"), SessionState::default());
    let mut version = sessions.fence(&s).await.expect("fences").version;
    for _ in 0..2 {
        let parked = copy(1, "a", "{}");
        version = written(
            sessions
                .park(&s, &parked, &state, version)
                .await
                .expect("parks"),
        );
    }
    let kept = sessions.parked(&s, NonZeroU32::MIN).await.expect("reads");
    version = written(sessions.write(&s, &state, version).await.expect("writes"));
    let removal = sessions
        .unpark(&s, &kept[0].reference, &state, version)
        .await;
    written(removal.expect("removes"));
    assert_eq!(
        sessions.parked(&s, NonZeroU32::MIN).await.expect("reads"),
        []
    );
}
