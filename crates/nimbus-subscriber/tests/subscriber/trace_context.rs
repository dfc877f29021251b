//! Trace context of messages where nothing exports spans.

use std::sync::{Arc, Mutex};

use nimbus_messaging::{Address, Headers};
use nimbus_subscriber::RetryPolicy;
use std::time::Duration;

use crate::support::{ENDPOINT, World};

/// SUB-25: without the feature, or where nothing exports spans, the context of a message goes on as
/// it came, also one that is no trace context: into the handler, to the resolver, into a retry and a
/// published event.
#[tokio::test(start_paused = true)]
async fn without_an_exporter_a_context_goes_on_as_it_came() {
    for parent in [
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "no trace context",
    ] {
        let world = World::new().await;
        world.broker.declare("Shop");
        let event = World::event("a").with_session("s").with_headers(|headers| {
            headers.trace.parent = Some(parent.to_owned());
            headers.trace.state = Some("vendor=1".to_owned());
        });
        let seen = Arc::new(Mutex::new(None));
        let in_handler = Arc::clone(&seen);
        world.script.fail("a", 1);
        world.script.next("a", async move |context| {
            *in_handler.lock().unwrap() = Some(context.trace_context());
            context.publish("Shop", "Billed", &1, "billed-a").await?;
            Ok(())
        });
        world.publish(event.to(ENDPOINT)).await;
        let policy = RetryPolicy::fixed(Duration::from_secs(1));
        world.run_with(|builder| builder.retry(policy)).await;
        let expected = nimbus_messaging::TraceContext {
            parent: Some(parent.to_owned()),
            state: Some("vendor=1".to_owned()),
        };
        assert_eq!(*seen.lock().unwrap(), Some(expected.clone()));
        assert_eq!(world.lines(), ["ErrorResponse a", "ResolutionResponse a"]);
        let sent = world.broker.envelopes(Address::RESOLVER);
        for message in sent.iter().chain(&world.broker.envelopes("Shop")) {
            assert_eq!(Headers::read(message).unwrap().trace, expected);
        }
    }
}
