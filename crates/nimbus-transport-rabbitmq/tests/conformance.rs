//! The RabbitMQ transport passes the transport conformance suite, each connection through a proxy
//! of its own that can cut it.

#[path = "server/mod.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod server;

use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_testing::{Namespace, TcpProxy, TransportConformance, TransportUnderTest};
use nimbus_messaging::{SessionId, TransportError};

use server::{Endpoints, Remembering};

/// An answer of the broker takes longer than one of this process.
const BRIEFLY: Duration = Duration::from_millis(250);

async fn connect(ns: Namespace) -> Result<TransportUnderTest, TransportError> {
    let endpoints = Endpoints::of(&ns);
    let proxy = TcpProxy::to(server::socket()).await.expect("a free port");
    let proxy = Arc::new(proxy);
    let transport = server::open(&server::through(proxy.address()), server::options());
    let partitions = transport.clone();
    Ok(TransportUnderTest::new(Remembering(transport, endpoints))
        .with_delivery_limit(server::LIMIT.get())
        .with_brief_wait(BRIEFLY)
        .with_shared_lanes(move |session| {
            SessionId::new(session).map_or(0, |session| partitions.partition_of(&session).into())
        })
        .with_dead_letters(|endpoint| async move { Ok(server::dead_letters(&endpoint).await) })
        .with_cut(move || {
            let proxy = Arc::clone(&proxy);
            async move { proxy.cut() }
        }))
}

fn suite() -> TransportConformance {
    let suite = TransportConformance::new("rabbitmq", connect).time_limit(Duration::from_secs(120));
    match server::find() {
        Ok(_) => suite,
        Err(reason) => suite.unavailable(reason),
    }
}

nimbus_inbox_testing::conformance!(suites: suite());
