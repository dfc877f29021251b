//! A database that can't be written.

use std::sync::Arc;
use std::time::Duration;

use nimbus_messaging::{Address, Transport};
use nimbus_resolver::{EventState, OpenOptions, Resolver, ResolverStore};
use nimbus_sqlite::rusqlite::Connection;
use nimbus_transport_embedded::EmbeddedTransport;
use tokio_util::sync::CancellationToken;

use crate::support::{Fixture, Told, until};

/// SUB-30: while the database can't be written nothing is lost, no delivery is spent and nothing is
/// dead-lettered; afterwards the report is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_of_the_database_is_waited_out() {
    let fixture = Fixture::new().await;
    let path = fixture.store.path().to_owned();
    let options = OpenOptions::default().with_busy_timeout(Duration::from_millis(1));
    let store = ResolverStore::open_with(&path, options).await.unwrap();
    let queue = EmbeddedTransport::open(fixture.directory.path().join("queue.db"));
    let queue = queue.await.unwrap();
    let sender = queue.sender(&Address::RESOLVER).await.unwrap();
    sender
        .send(vec![Told::completed("a", 1).envelope()])
        .await
        .unwrap();

    let stranger = Connection::open(&path).unwrap();
    stranger.execute_batch("begin immediate").unwrap();
    let stop = CancellationToken::new();
    let resolver = Resolver::new(store, Arc::new(queue.clone()));
    let running = tokio::spawn(resolver.run(stop.clone().cancelled_owned()));
    let inspector = queue.inspector();
    let count = async || inspector.queue(Address::RESOLVER).await.unwrap();
    until(async || count().await.locked_lanes == 1).await;
    assert_eq!(fixture.find("a").await, None);
    stranger.execute_batch("rollback").unwrap();

    until(async || count().await.ready == 0).await;
    stop.cancel();
    let report = running.await.unwrap().unwrap();
    assert_eq!(fixture.state("a").await, EventState::Completed);
    assert_eq!((report.received, report.kept, report.left), (1, 1, 0));
    assert_eq!(count().await.dead, 0);
}

/// SUB-29: a stop during an outage leaves what is held to the next resolver.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_during_an_outage_loses_nothing() {
    let fixture = Fixture::new().await;
    let path = fixture.store.path().to_owned();
    let options = OpenOptions::default().with_busy_timeout(Duration::from_millis(1));
    let store = ResolverStore::open_with(&path, options).await.unwrap();
    let queue = EmbeddedTransport::open(fixture.directory.path().join("queue.db"));
    let queue = queue.await.unwrap();
    let sender = queue.sender(&Address::RESOLVER).await.unwrap();
    sender
        .send(vec![Told::completed("a", 1).envelope()])
        .await
        .unwrap();

    let stranger = Connection::open(&path).unwrap();
    stranger.execute_batch("begin immediate").unwrap();
    let stop = CancellationToken::new();
    let resolver = Resolver::new(store, Arc::new(queue.clone()));
    let running = tokio::spawn(resolver.run(stop.clone().cancelled_owned()));
    let inspector = queue.inspector();
    let count = async || inspector.queue(Address::RESOLVER).await.unwrap();
    until(async || count().await.locked_lanes == 1).await;
    stop.cancel();
    let report = running.await.unwrap().unwrap();
    assert_eq!(report.kept, 0);
    assert_eq!(count().await.ready, 1);
    stranger.execute_batch("rollback").unwrap();

    let resolver = Resolver::new(fixture.store.clone(), Arc::new(queue.clone()));
    let stop = async { until(async || count().await.ready == 0).await };
    resolver.run(stop).await.unwrap();
    assert_eq!(fixture.state("a").await, EventState::Completed);
}
