//! Operators' commands from the client to what they bring about.

use nimbus_inbox_testing::BrokerOptions;
use nimbus_messaging::{EventReference, ManagerClient};
use nimbus_subscriber::Handoff;

use crate::support::{ENDPOINT, World, session};

async fn manager(world: &World) -> ManagerClient {
    let transport = world.broker.connect();
    ManagerClient::connect(&transport, ENDPOINT).await.unwrap()
}

/// SUB-28, SUB-12, SUB-13: what the resolver was told is enough to have the event handled once more,
/// or to give it up; what waited follows.
#[tokio::test(start_paused = true)]
async fn an_outcome_is_enough_to_resubmit_or_skip_its_event() {
    for skip in [false, true] {
        let world = World::new().await;
        world.script.fail("a", 1);
        world.place("a").await;
        world.place("b").await;
        world.run().await;
        let told = world.told().remove(0);
        let about = EventReference::of_outcome(&told.headers);
        let manager = manager(&world).await;
        if skip {
            manager.skip(&about).await.unwrap();
        } else {
            let event = told.content.event_content.unwrap();
            manager.resubmit(&about, event).await.unwrap();
        }
        world.run().await;
        let (done, last): (&[&str], _) = if skip {
            (&["b"], "SkipResponse a")
        } else {
            (&["a", "b"], "ResolutionResponse a")
        };
        assert_eq!(world.script.done(), done);
        assert_eq!(world.told_of("a").last().unwrap().line(), last);
        assert_eq!(world.is_recorded("m-a"), !skip);
        assert!(!world.state().is_blocked() && !world.state().has_deferred());
        world.assert_idle();
    }
}

/// SUB-28, INB-18: each resubmission has an id of its own, so a second one is a second attempt.
#[tokio::test(start_paused = true)]
async fn a_second_resubmission_is_a_second_attempt() {
    let world = World::blocked("a", BrokerOptions::default()).await;
    world.script.fail("a", 1);
    let manager = manager(&world).await;
    let body = World::event("a").to(ENDPOINT).body;
    let content = nimbus_messaging::MessageContent::decode(&body).unwrap();
    for _ in 0..2 {
        let event = content.event_content.clone().unwrap();
        let about = EventReference::new("s", "a");
        manager.resubmit(&about, event).await.unwrap();
    }
    world.run().await;
    assert_eq!(world.script.begun(), ["a", "a", "b"]);
    assert!(!world.state().is_blocked());
    world.assert_idle();
}

/// SUB-28, SUB-15: a handoff is failed with a text, then completed.
#[tokio::test(start_paused = true)]
async fn a_handoff_is_settled_by_its_outcome() {
    let world = World::new().await;
    world.script.next("a", async |context| {
        context.mark_pending_handoff(Handoff::default());
        Ok(())
    });
    world.place("a").await;
    world.run().await;
    let about = EventReference::of_outcome(&world.told()[0].headers);
    let manager = manager(&world).await;
    manager.fail_handoff(&about, "refused").await.unwrap();
    world.run().await;
    assert_eq!(world.told()[1].error_text(), Some("refused"));
    assert!(world.state().is_blocked());
    manager.complete_handoff(&about).await.unwrap();
    world.run().await;
    assert_eq!(
        world.lines(),
        [
            "PendingHandoffResponse a",
            "ErrorResponse a",
            "ResolutionResponse a"
        ]
    );
    assert!(!world.state().is_blocked());
    world.assert_idle();
}

/// SUB-28, SUB-18: a drain handles what waits in a free session, and nothing in a blocked one.
#[tokio::test(start_paused = true)]
async fn a_drain_handles_what_waits() {
    let world = World::new().await;
    world.park("a").await;
    manager(&world).await.drain(&session("s")).await.unwrap();
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
    world.assert_idle();

    let world = World::blocked("a", BrokerOptions::default()).await;
    manager(&world).await.drain(&session("s")).await.unwrap();
    world.run().await;
    assert!(world.is_still_blocked());
    world.assert_idle();
}
