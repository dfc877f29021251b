//! The session store: versions, parked copies, and what happens when two receivers meet.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_sqlite::rusqlite::Connection;
use nimbus_inbox_sqlite::{Database, OpenOptions, SqliteSessions};
use nimbus_messaging::{
    Cas, Envelope, EventId, ParkedCopy, ParkedRef, PropertyValue, SessionId, SessionState,
    SessionStore, StateVersion, TransportErrorKind,
};
use tempfile::TempDir;

struct Fixture {
    directory: TempDir,
    database: Database,
    sessions: SqliteSessions,
}

impl Fixture {
    async fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let database = Database::open(directory.path().join("queue.db"), OpenOptions::default())
            .await
            .expect("a fresh file");
        let sessions = SqliteSessions::new(database.clone(), endpoint("Billing"));
        Self {
            directory,
            database,
            sessions,
        }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("queue.db")
    }

    /// The same sessions, as another process sees them.
    async fn elsewhere(&self) -> SqliteSessions {
        let database = Database::open(self.path(), OpenOptions::default())
            .await
            .expect("the same file");
        SqliteSessions::new(database, endpoint("Billing"))
    }

    async fn parked(&self, limit: u32) -> Vec<ParkedCopy> {
        let limit = NonZeroU32::new(limit).expect("not zero");
        let parked = self.sessions.parked(&session("s"), limit).await;
        parked.expect("reads")
    }

    async fn version(&self) -> StateVersion {
        let read = self.sessions.read(&session("s")).await;
        read.expect("reads").version
    }
}

fn endpoint(name: &str) -> EndpointId {
    EndpointId::new(name).expect("usable")
}

fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("not empty")
}

fn blocked_by(event: &str) -> SessionState {
    SessionState {
        blocked_by_event_id: Some(EventId::new(event)),
        ..SessionState::default()
    }
}

fn copy(sequence: i64, id: &str, body: &'static str) -> ParkedCopy {
    let envelope = Envelope {
        message_id: Some(id.to_owned()),
        body: body.into(),
        ..Envelope::default()
    };
    ParkedCopy {
        reference: ParkedRef {
            sequence,
            id: id.to_owned(),
            generation: 0,
        },
        envelope,
    }
}

fn written(cas: Cas) -> StateVersion {
    match cas {
        Cas::Written(version) => version,
        Cas::Conflict => panic!("a conflict where nobody else writes"),
    }
}

/// SUB-07
#[tokio::test]
async fn a_fresh_session_is_empty_and_unversioned() {
    let fixture = Fixture::new().await;
    let fresh = fixture.sessions.read(&session("s")).await.expect("reads");
    assert_eq!(fresh.state, SessionState::default());
    assert_eq!(fresh.version, StateVersion(0));
    assert!(fixture.sessions.capabilities().atomic);
    assert_eq!(fixture.parked(10).await, []);
}

/// SUB-08: the fence shuts out a predecessor whose lock expired.
#[tokio::test]
async fn whoever_was_fenced_off_can_not_write_any_more() {
    let fixture = Fixture::new().await;
    let (old, new) = (&fixture.sessions, fixture.elsewhere().await);
    let s = session("s");
    let before = old.fence(&s).await.expect("fences");
    let after = new.fence(&s).await.expect("fences");
    assert!(after.version > before.version);

    let state = blocked_by("late");
    let parked = copy(0, "late", "{}");
    for outcome in [
        old.write(&s, &state, before.version).await,
        old.park(&s, &parked, &state, before.version).await,
        old.unpark(&s, &parked.reference, &state, before.version)
            .await,
    ] {
        assert_eq!(outcome.expect("an answer"), Cas::Conflict);
    }
    assert_eq!(new.read(&s).await.expect("reads"), after);
    assert_eq!(fixture.parked(10).await, [], "a conflict keeps no copy");

    let state = blocked_by("order-1");
    let version = written(new.write(&s, &state, after.version).await.expect("writes"));
    assert!(version > after.version);
    let read = old.read(&s).await.expect("reads");
    assert_eq!((read.state, read.version), (state, version));
}

/// SUB-08: of two writes that expect the same version, one is a conflict.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_concurrent_writes_at_one_version_one_wins() {
    let fixture = Fixture::new().await;
    let other = fixture.elsewhere().await;
    for round in 0..20 {
        let expected = fixture.version().await;
        let writes = [fixture.sessions.clone(), other.clone()].map(|sessions| {
            tokio::spawn(async move {
                let state = blocked_by(&format!("order-{round}"));
                sessions.write(&session("s"), &state, expected).await
            })
        });
        let mut wins = 0;
        for write in writes {
            let cas = write.await.expect("no panic").expect("an answer");
            wins += usize::from(matches!(cas, Cas::Written(_)));
        }
        assert_eq!(wins, 1);
    }
}

/// SUB-07: state that a newer version or a peer wrote is kept.
#[tokio::test]
async fn members_that_this_version_does_not_know_survive() {
    let fixture = Fixture::new().await;
    let s = session("s");
    let mut state = blocked_by("order-\u{0}\u{ffff}");
    let unknown = r#"{"FutureMember":{"a":[1,null,"\u0000"]},"Zahl":12345678901234}"#;
    state.unknown = SessionState::from_json(unknown.as_bytes())
        .expect("JSON")
        .unknown;
    assert_eq!(state.unknown.len(), 2);
    let outcome = fixture.sessions.write(&s, &state, StateVersion(0)).await;
    assert_eq!(written(outcome.expect("writes")), StateVersion(1));
    let fenced = fixture.sessions.fence(&s).await.expect("fences");
    assert_eq!((fenced.state, fenced.version), (state, StateVersion(2)));
}

/// SUB-35: copy and state change together; the order is that of sequence, then id.
#[tokio::test]
async fn copies_come_back_in_order_and_within_the_limit() {
    let fixture = Fixture::new().await;
    let s = session("s");
    let mut version = StateVersion(0);
    let mut state = SessionState::default();
    for (sequence, id) in [(2, "c"), (0, "b"), (0, "B"), (10, "a"), (0, "a")] {
        state.count_parked();
        let parked = copy(sequence, id, "{}");
        let outcome = fixture.sessions.park(&s, &parked, &state, version).await;
        version = written(outcome.expect("parks"));
    }
    let order = |copies: Vec<ParkedCopy>| -> Vec<(i64, String)> {
        let places = copies.into_iter().map(|copy| copy.reference);
        places.map(|place| (place.sequence, place.id)).collect()
    };
    let expected = [(0, "B"), (0, "a"), (0, "b"), (2, "c"), (10, "a")];
    let expected = expected.map(|(sequence, id)| (sequence, id.to_owned()));
    assert_eq!(order(fixture.parked(100).await), expected);
    assert_eq!(order(fixture.parked(2).await), expected[..2]);
    let read = fixture.sessions.read(&s).await.expect("reads");
    assert_eq!((read.state.deferred_count, read.version), (5, version));
}

/// SUB-18: removing a copy can't remove one that was parked again since.
#[tokio::test]
async fn a_copy_that_was_parked_again_survives_the_removal_of_the_first() {
    let fixture = Fixture::new().await;
    let s = session("s");
    let (sessions, state) = (&fixture.sessions, SessionState::default());
    let first = copy(7, "a", "first");
    let version = written(
        sessions
            .park(&s, &first, &state, StateVersion(0))
            .await
            .expect("parks"),
    );
    let again = copy(7, "a", "again");
    let version = written(
        sessions
            .park(&s, &again, &state, version)
            .await
            .expect("parks"),
    );
    let parked = fixture.parked(10).await;
    assert_eq!(parked.len(), 1, "the same sequence and id is one copy");
    assert_eq!(parked[0].reference.generation, 1);
    assert_eq!(parked[0].envelope, again.envelope);

    let removal = sessions
        .unpark(&s, &first.reference, &state, version)
        .await
        .expect("writes");
    let version = written(removal);
    assert_eq!(fixture.parked(10).await, parked, "of another generation");
    let removal = sessions
        .unpark(&s, &parked[0].reference, &state, version)
        .await
        .expect("writes");
    written(removal);
    assert_eq!(fixture.parked(10).await, []);
}

#[tokio::test]
async fn a_copy_comes_back_as_it_went() {
    let fixture = Fixture::new().await;
    let mut parked = copy(i64::MAX, "id \u{0}\u{1f600}", "");
    parked.envelope = Envelope {
        message_id: None,
        session_id: Some("s".into()),
        correlation_id: Some(String::new()),
        reply_to: Some("Resolver".into()),
        reply_to_session_id: Some("\u{0}".into()),
        content_type: Some("application/json".into()),
        body: vec![0, 255, 0, 128].into(),
        ..Envelope::default()
    };
    for (name, value) in [
        ("text", PropertyValue::from("\u{2603} \0 \"quoted\"")),
        ("empty", PropertyValue::from("")),
        ("integer", PropertyValue::Integer(i64::MIN)),
        ("tenth", PropertyValue::Float(0.1)),
        ("tiny", PropertyValue::Float(f64::from_bits(1))),
        ("infinite", PropertyValue::Float(f64::NEG_INFINITY)),
        ("boolean", PropertyValue::Boolean(false)),
        ("instant", PropertyValue::Instant(17_000_000_000_000_001)),
    ] {
        parked.envelope.properties.set(name, value);
    }
    let outcome = fixture
        .sessions
        .park(
            &session("s"),
            &parked,
            &SessionState::default(),
            StateVersion(0),
        )
        .await;
    written(outcome.expect("parks"));
    assert_eq!(fixture.parked(10).await, [parked]);
}

/// Endpoints and sessions share the tables, byte by byte apart.
#[tokio::test]
async fn no_endpoint_and_no_session_sees_another() {
    let fixture = Fixture::new().await;
    let mut count = 0;
    let names = ["Billing", "billing", "Billing ", "Billing\u{0}"];
    for endpoint_name in names {
        let sessions = SqliteSessions::new(fixture.database.clone(), endpoint(endpoint_name));
        for session_name in names {
            let s = session(session_name);
            let fresh = sessions.fence(&s).await.expect("fences");
            assert_eq!(fresh.version, StateVersion(1), "{session_name:?}");
            count += 1;
            let parked = copy(count, "a", "{}");
            let outcome = sessions
                .park(&s, &parked, &SessionState::default(), fresh.version)
                .await;
            written(outcome.expect("parks"));
            let limit = NonZeroU32::new(100).expect("not zero");
            assert_eq!(sessions.parked(&s, limit).await.expect("reads"), [parked]);
        }
    }
}

/// A call that is dropped is whole or not at all.
#[tokio::test]
async fn a_parking_that_is_dropped_keeps_copy_and_state_together() {
    let fixture = Fixture::new().await;
    let s = session("s");
    fixture.sessions.verify().await.expect("a fresh file");
    let mut state = SessionState::default();
    state.count_parked();
    let parked = copy(0, "a", "{}");
    let park = fixture.sessions.park(&s, &parked, &state, StateVersion(0));
    // One poll queues the write, which then goes on by itself.
    assert!(futures_util::poll!(std::pin::pin!(park)).is_pending());
    fixture
        .database
        .write(|_| Ok(()))
        .await
        .expect("an empty write, behind it");
    let read = fixture.sessions.read(&s).await.expect("reads");
    assert_eq!(read.state.deferred_count, 1);
    assert_eq!(fixture.parked(10).await, [parked]);
}

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
            "cargo xtask provision --sqlite {}",
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

fn stranger(path: &Path) -> Connection {
    Connection::open(path).expect("the file exists")
}
