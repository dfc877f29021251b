use std::time::Duration;

use nimbus_inbox_testing::BrokerOptions;
use nimbus_subscriber::{RetryPolicy, SubscriberBuilder};

use super::World;

/// Runs what `set_up` makes once for each effect, with a crash there, then once more without, on
/// stores with and without transactions. Afterwards the session's effects must be those that
/// `set_up` names, in this order, and nothing may be left. Returns how many crashes there were.
///
/// A crash before the record repeats an effect, so repeats in place don't count.
pub(crate) async fn crash_anywhere<S>(at_least: u64, set_up: S) -> u64
where
    S: AsyncFn(BrokerOptions) -> (World, &'static [&'static str]),
{
    let mut explored = 0;
    for atomic in [true, false] {
        for at in 0.. {
            let options = BrokerOptions::default();
            let options = if atomic {
                options
            } else {
                options.without_atomic_sessions()
            };
            let (world, expected) = set_up(options).await;
            let process = world.process();
            let strike = process.plan_crash(&world, Some(at));
            let first = process.start(with_retries(process.builder(&world)));
            world.settle().await;
            if !strike.has_struck() {
                first.stop().await;
                assert!(at >= at_least, "the run has only {at} points");
                break;
            }
            first.kill();
            explored += 1;
            world.run_with(with_retries).await;

            let context = format!("atomic {atomic}, crash at point {at}: {:?}", world.lines());
            let mut order = world.script.done();
            order.dedup();
            assert_eq!(order, expected, "{context}");
            assert_eq!(world.parked(), [], "{context}");
            let state = world.state();
            assert!(
                !state.is_blocked() && !state.has_deferred(),
                "{state:?}, {context}"
            );
            world.assert_idle();
        }
    }
    explored
}

fn with_retries(builder: SubscriberBuilder) -> SubscriberBuilder {
    builder.retry(RetryPolicy::fixed(Duration::from_secs(5)))
}
