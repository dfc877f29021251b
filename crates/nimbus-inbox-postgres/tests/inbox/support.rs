//! What the tests say in a word.

use std::error::Error as _;
use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use nimbus_inbox_core::{Error, ErrorKind, InboxKey, InboxStore};
use nimbus_inbox_postgres::PostgresInbox;
use nimbus_inbox_testing::{ServiceTests, TcpProxy, key};

use crate::server::{self, Schema};

/// A test by its name.
pub(crate) type Test = (
    &'static str,
    fn() -> Pin<Box<dyn Future<Output = ()> + Send>>,
);

/// Tests by the names of their functions.
macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        &[$((stringify!($name), || Box::pin($name()))),+]
    };
}
pub(crate) use cases;

/// The tests of a file, where there is a server.
pub(crate) fn tests(name: &str, tests: &'static [Test]) -> ServiceTests {
    let mut suite = ServiceTests::new(name);
    for (name, body) in tests {
        suite = suite.test(*name, body);
    }
    match server::find() {
        Ok(_) => suite,
        Err(reason) => suite.unavailable(reason),
    }
}

pub(crate) fn keys(prefix: &str, count: usize) -> Vec<InboxKey> {
    (0..count)
        .map(|number| key("Billing", &format!("{prefix}-{number}")))
        .collect()
}

/// An inbox whose connections go through a proxy. Its tables are there.
pub(crate) async fn proxied(schema: &Schema) -> (TcpProxy, PostgresInbox) {
    schema.open().await.verify().await.expect("a fresh schema");
    let proxy = TcpProxy::to(server::socket()).await.expect("a port");
    let address = schema.through(proxy.address());
    let inbox = schema.open_at(&address, schema.options()).await;
    inbox.verify().await.expect("through the proxy");
    (proxy, inbox)
}

/// The error and its causes, in one text.
pub(crate) fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}

/// Asserts that a call failed in this way, and reads what the person on call is told.
pub(crate) fn told<T: Debug>(kind: ErrorKind, outcome: Result<T, Error>) -> String {
    let error = outcome.expect_err("it can't work");
    assert_eq!(error.kind(), kind, "{error:?}");
    assert_eq!(error.provider(), Some("postgres"));
    chain(&error)
}

/// Polls `call` until it was left pending `polls` times, then drops it.
pub(crate) async fn drop_after<T>(polls: usize, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match call.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Waits until as many of the schema's sessions wait for a lock.
pub(crate) async fn waiting(schema: &Schema, sessions: i64) {
    let stranger = server::stranger().await;
    loop {
        let row = stranger
            .query_one(
                "select count(*) from pg_stat_activity
                 where application_name = $1 and wait_event_type = 'Lock'",
                &[&schema.name()],
            )
            .await
            .expect("an answer");
        if row.get::<_, i64>(0) >= sessions {
            return;
        }
        tokio::task::yield_now().await;
    }
}
