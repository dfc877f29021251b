//! The transport in memory passes the suite: as it is, with a session store in two steps, with an
//! await at every point where a call may be dropped, and where it plays a broker that can do less.

use std::num::NonZeroU32;

use async_trait::async_trait;
use nimbus_inbox_testing::{
    BrokerCall, BrokerHook, BrokerOptions, BrokerPoint, DeadLettered, InMemoryBroker, ManualClock,
    Namespace, TransportConformance, TransportUnderTest,
};
use nimbus_messaging::{TransportCapabilities, TransportError};

const LIMIT: NonZeroU32 = NonZeroU32::new(4).expect("not zero");

/// A connection to the namespace's broker, whose time passes only when a case says so.
fn connect(ns: &Namespace, hooks: Hooks, options: BrokerOptions) -> TransportUnderTest {
    let clock = ns.shared(ManualClock::default);
    let broker = ns.shared(|| {
        let options = options.with_delivery_limit(Some(LIMIT));
        let broker = InMemoryBroker::with_options(options.with_clock(clock.clone()));
        if matches!(hooks, Hooks::Yielding) {
            broker.add_hook(Yield);
        }
        broker
    });
    let [moved, read, cut] = [(); 3].map(|()| broker.clone());
    TransportUnderTest::new(broker.connect())
        .with_clock(clock)
        .when_clock_moved(move || moved.clock_moved())
        .with_delivery_limit(LIMIT.get())
        .with_dead_letters(move |endpoint| {
            let kept = read.dead_letters(endpoint.as_str()).into_iter();
            let read = kept.map(|kept| DeadLettered {
                message_id: kept.envelope.message_id,
                reason: kept.reason,
                description: kept.description,
            });
            std::future::ready(Ok(read.collect()))
        })
        .with_cut(move || {
            cut.cut_connections();
            std::future::ready(())
        })
}

/// What stands in the calls.
#[derive(Debug, Clone, Copy)]
enum Hooks {
    None,
    Yielding,
}

/// Leaves every call pending once at each of its points.
#[derive(Debug)]
struct Yield;

#[async_trait]
impl BrokerHook for Yield {
    async fn reach(&self, _: BrokerPoint, _: &BrokerCall) -> Result<(), TransportError> {
        tokio::task::yield_now().await;
        Ok(())
    }
}

fn suite(name: &str, hooks: Hooks, options: fn() -> BrokerOptions) -> TransportConformance {
    TransportConformance::new(
        name,
        move |ns| async move { Ok(connect(&ns, hooks, options())) },
    )
}

fn two_steps() -> BrokerOptions {
    BrokerOptions::default().without_atomic_sessions()
}

fn less_capable() -> BrokerOptions {
    BrokerOptions::default().with_capabilities(TransportCapabilities {
        deferral: false,
        session_store: false,
        scheduled_send: false,
        cancel_scheduled: false,
        redelivery_horizon: None,
    })
}

nimbus_inbox_testing::conformance!(suites:
    suite("in_memory", Hooks::None, BrokerOptions::default),
    suite("yielding", Hooks::Yielding, BrokerOptions::default),
    suite("two_steps", Hooks::Yielding, two_steps),
    suite("less_capable", Hooks::None, less_capable),
);
