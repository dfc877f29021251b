//! The inbox as a layer.
#![cfg(feature = "tower")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use nimbus_inbox_core::{Error, Inbox, InboxLayer, Processed, Recorded};
use nimbus_inbox_testing::{Fault, FaultyStore, InMemoryInbox, When};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

#[derive(Debug)]
struct Delivery {
    message_id: Option<String>,
}

fn delivery(id: &str) -> Delivery {
    Delivery {
        message_id: Some(id.to_owned()),
    }
}

/// INB-39: a service behind the layer sees each message that succeeded once.
#[tokio::test]
async fn the_service_sees_a_success_once() {
    let store = FaultyStore::new(InMemoryInbox::new());
    let inbox = Inbox::new("Billing", store.clone()).unwrap();
    let runs = Arc::new(AtomicU32::new(0));
    let service = {
        let runs = Arc::clone(&runs);
        ServiceBuilder::new()
            .layer(InboxLayer::new(
                inbox.clone().erase(),
                |delivery: &Delivery| delivery.message_id.as_deref(),
            ))
            .service(service_fn(move |delivery: Delivery| {
                let run = runs.fetch_add(1, Ordering::SeqCst);
                async move {
                    match delivery.message_id.as_deref() {
                        Some("bad") => Err(anyhow::anyhow!("card declined")),
                        _ => Ok(run),
                    }
                }
            }))
    };

    let first = service.clone().oneshot(delivery("m-1")).await.unwrap();
    match first {
        Processed::Handled(handled) => {
            assert_eq!((handled.value, handled.recorded), (0, Some(Recorded::Now)));
        }
        Processed::Duplicate => panic!("a first delivery is no duplicate"),
    }
    // Also from another task, through a clone.
    let again = tokio::spawn(service.clone().oneshot(delivery("m-1")));
    assert!(again.await.unwrap().unwrap().is_duplicate());
    assert_eq!(runs.load(Ordering::SeqCst), 1);

    let failed = service.clone().oneshot(delivery("bad")).await.unwrap_err();
    assert_eq!(failed.to_string(), "card declined");

    for _ in 0..2 {
        let absent = service
            .clone()
            .oneshot(Delivery { message_id: None })
            .await
            .unwrap();
        match absent {
            Processed::Handled(handled) => assert_eq!(handled.recorded, None),
            Processed::Duplicate => panic!("an absent id was deduplicated"),
        }
    }

    store.inject(When::check(), Fault::transient());
    let error = service.oneshot(delivery("m-2")).await.unwrap_err();
    assert!(error.downcast_ref::<Error>().unwrap().is_transient());
    assert_eq!(runs.load(Ordering::SeqCst), 4);
}

/// A service that insists on being polled ready before it is called; a clone is not ready.
#[derive(Debug, Default)]
struct Strict {
    ready: bool,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Service<Delivery> for Strict {
    type Response = ();
    type Error = Error;
    type Future = std::future::Ready<Result<(), Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Delivery) -> Self::Future {
        assert!(
            std::mem::take(&mut self.ready),
            "called without being ready"
        );
        std::future::ready(Ok(()))
    }
}

/// The service that was polled ready is the one that is called.
#[tokio::test]
async fn the_service_that_is_ready_takes_the_call() {
    let inbox = Inbox::new("Billing", InMemoryInbox::new()).unwrap();
    let layer = InboxLayer::new(inbox, |delivery: &Delivery| delivery.message_id.as_deref());
    let mut service = layer.layer(Strict::default());
    for id in ["m-1", "m-2"] {
        let done = service.ready().await.unwrap().call(delivery(id)).await;
        assert!(!done.unwrap().is_duplicate());
    }
}
