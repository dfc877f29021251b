//! Servers that can't be reached or refuse the login, and what the person on call is told.

use nimbus_inbox_core::{ErrorKind, InboxStore};
use nimbus_inbox_postgres::{PostgresConnection, PostgresInbox, PostgresInboxOptions, TlsMode};
use tokio::net::TcpListener;

use crate::server::{self, Schema};
use crate::support::{Test, cases, keys, told};

pub(crate) const TESTS: &[Test] = cases![
    a_server_that_is_not_there_is_transient,
    a_database_and_a_role_that_do_not_exist_are_told_by_code,
    a_server_without_tls_is_refused_unless_that_was_asked_for,
    a_server_that_speaks_something_else_is_no_panic,
    a_planted_password_shows_nowhere,
    a_server_that_takes_no_writes_now_is_transient,
];

async fn verify(address: &str) -> Result<(), nimbus_inbox_core::Error> {
    let inbox = PostgresInbox::open(address).await.expect("readable");
    inbox.verify().await
}

/// A port that nobody listens on.
async fn closed_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    listener.local_addr().expect("it is bound").port()
}

/// INB-26
async fn a_server_that_is_not_there_is_transient() {
    let port = closed_port().await;
    let text = told(
        ErrorKind::Transient,
        verify(&format!(
            "postgres://app@127.0.0.1:{port}/billing?sslmode=disable"
        ))
        .await,
    );
    assert!(
        text.contains(&format!("127.0.0.1:{port}/billing")),
        "{text}"
    );
}

/// INB-26
async fn a_database_and_a_role_that_do_not_exist_are_told_by_code() {
    let socket = server::socket();
    let config = server::config();
    let user = config.get_user().expect("tests name their user");
    if config.get_password().is_some() {
        // A server that asks for a password refuses an unknown role like a wrong password.
        let wrong = format!("postgres://{user}:wrong@{socket}/postgres?sslmode=disable");
        let text = told(ErrorKind::Configuration, verify(&wrong).await);
        assert!(text.contains("28"), "{text}");
        return;
    }
    for (address, code) in [
        (
            format!("postgres://{user}@{socket}/no_such_database?sslmode=disable"),
            "3D000",
        ),
        (
            format!("postgres://no_such_role@{socket}/postgres?sslmode=disable"),
            "28000",
        ),
    ] {
        let text = told(ErrorKind::Configuration, verify(&address).await);
        assert!(text.contains(code), "{text}");
        assert!(text.contains("check address, database, user"), "{text}");
    }
}

/// Nothing is sent in the clear because a server would have it so.
async fn a_server_without_tls_is_refused_unless_that_was_asked_for() {
    let has_tls = server::stranger().await.query_one("show ssl", &[]).await;
    let has_tls: String = has_tls.expect("a setting").get(0);
    let connection = PostgresConnection::parse(server::address()).expect("readable");
    let connection = connection.with_tls(TlsMode::Verified);
    let inbox = PostgresInbox::open_with(connection, PostgresInboxOptions::default())
        .await
        .expect("the system trusts somebody");
    // A server that has TLS has a certificate that nobody vouches for, in a test.
    let text = told(ErrorKind::Configuration, inbox.verify().await);
    assert!(text.contains("TLS"), "ssl is {has_tls}: {text}");
}

/// INB-26
async fn a_server_that_speaks_something_else_is_no_panic() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move {
        while let Ok((mut peer, _)) = listener.accept().await {
            let text = b"HTTP/1.1 400 Bad Request\r\n\r\n";
            let _ = tokio::io::AsyncWriteExt::write_all(&mut peer, text).await;
        }
    });
    for mode in ["disable", "require"] {
        let address = format!("postgres://app@{address}/billing?sslmode={mode}");
        verify(&address).await.expect_err("no PostgreSQL");
    }
}

/// INB-11: neither in errors nor in what is printed for debugging.
async fn a_planted_password_shows_nowhere() {
    const PLANTED: &str = "hunter2-planted";
    let socket = server::socket();
    for address in [
        format!(
            "postgres://app:{PLANTED}@127.0.0.1:{}/x?sslmode=disable",
            closed_port().await
        ),
        format!("postgres://no_such_role:{PLANTED}@{socket}/postgres?sslmode=disable"),
        format!("postgres://no_such_role:{PLANTED}@{socket}/postgres"),
    ] {
        let inbox = PostgresInbox::open(address).await.expect("readable");
        let error = inbox.verify().await.expect_err("no such thing");
        let shown = format!("{inbox:?} {error:?} {error} {:?}", inbox.pool());
        let shown = shown + &crate::support::chain(&error);
        assert!(!shown.contains(PLANTED), "{shown}");
    }
}

/// INB-26: a primary that was demoted, until the connections find the new one.
async fn a_server_that_takes_no_writes_now_is_transient() {
    let schema = Schema::unique();
    schema.open().await.verify().await.expect("a fresh schema");
    let read_only = "-c default_transaction_read_only=on";
    let inbox = schema.open_set(read_only, schema.options()).await;
    inbox.check(&keys("m", 1)).await.expect("it reads");
    let text = told(ErrorKind::Transient, inbox.record(&keys("m", 1)).await);
    assert!(text.contains("25006") && text.contains("primary"), "{text}");
}
