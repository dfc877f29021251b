//! Random runs: several sessions, failures, publisher duplicates, two receivers that die at random
//! effects and are replaced. Each seed is a run that can be repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use nimbus_inbox_testing::{BrokerOptions, Fault, InMemoryInbox, When, key};
use nimbus_messaging::{EventReference, ManagerClient, MessageContent};
use nimbus_subscriber::{HandlerContext, HandlerError, RetryPolicy, SubscriberBuilder};

use crate::support::{ENDPOINT, Process, Running, Sluggish, World, session};

const SESSIONS: usize = 3;
const EVENTS: usize = 6;
const KILLS: usize = 6;

/// How long an effect may take where locks run out.
const SLOWEST: Duration = Duration::from_millis(600);

/// What handlers saw that must not happen.
#[derive(Clone, Default)]
struct Violations(Arc<Mutex<Vec<String>>>);

impl Violations {
    fn note(&self, violation: String) {
        self.0.lock().unwrap().push(violation);
    }
}

fn with_retries(builder: SubscriberBuilder) -> SubscriberBuilder {
    let policy = RetryPolicy::exponential(Duration::from_secs(1)).max_retries(1_000);
    builder.retry(policy.max_delay(Duration::from_secs(20)))
}

/// SUB-08, SUB-10, SUB-11, SUB-18, SUB-35 to SUB-37, INB-40: nothing is lost, the successful
/// effects of each session are in order, and no message that was recorded runs again.
#[tokio::test(start_paused = true)]
async fn deaths_at_random_effects_lose_and_reorder_nothing() {
    let mut died = 0;
    for seed in 0..60 {
        died += run(seed, Disturbance::Deaths).await.died;
    }
    assert!(died > 100, "only {died} processes died");
}

/// SUB-08: when locks run out under living receivers, which go on with what they had begun, a message
/// may run in two at once (INB-40), but nothing is lost and the effects of each session stay in order.
#[tokio::test(start_paused = true)]
async fn locks_that_run_out_lose_and_reorder_nothing() {
    for seed in 190..230 {
        run(seed, Disturbance::LostLocks).await;
    }
}

/// SUB-12, SUB-13, SUB-16, INB-17: operators resubmit and skip what blocks, at any time, while
/// receivers die: nothing but what was skipped is lost, and no effect comes early.
#[tokio::test(start_paused = true)]
async fn operators_among_deaths_lose_and_reorder_nothing() {
    let (mut died, mut commands) = (0, 0);
    for seed in 200..260 {
        let counts = run(seed, Disturbance::Operators).await;
        died += counts.died;
        commands += counts.commands;
    }
    assert!(died > 100, "only {died} processes died");
    assert!(commands > 100, "only {commands} commands were given");
}

/// What happened in a run.
#[derive(Default)]
struct Counts {
    died: usize,
    commands: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Disturbance {
    Deaths,
    /// Deaths, and commands about what blocks.
    Operators,
    LostLocks,
}

async fn run(seed: u64, disturbance: Disturbance) -> Counts {
    let mut rng = Rng::with_seed(seed);
    let options = BrokerOptions::default()
        .with_delivery_limit(None)
        .without_log();
    let world = World::with(if rng.bool() {
        options
    } else {
        options.without_atomic_sessions()
    })
    .await;
    if disturbance == Disturbance::LostLocks {
        world.broker.add_hook(Sluggish::new(seed, SLOWEST));
    }
    let violations = Violations::default();
    let mut orders = Vec::new();
    for event in 0..EVENTS {
        for name in 0..SESSIONS {
            let order = format!("{name}/{event}");
            script(
                &world,
                &order,
                rng.usize(0..4).saturating_sub(1),
                &violations,
                &mut rng,
            );
            orders.push(order);
        }
    }

    let mut receivers: Vec<(Process, Running)> = Vec::new();
    let mut counts = Counts::default();
    let mut skipped = BTreeSet::new();
    let mut published = orders.iter();
    for _ in 0..KILLS + orders.len() {
        while receivers.len() < 2 {
            receivers.push(receiver(&world, disturbance, &mut rng));
        }
        if let Some(order) = published.next() {
            let name = order.split('/').next().unwrap();
            world.place_in(name, order).await;
            if rng.u8(0..4) == 0 {
                world.place_in(name, order).await;
            }
        }
        if disturbance == Disturbance::LostLocks {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_millis(rng.u64(1..1_000))).await;
                let name = rng.usize(0..SESSIONS).to_string();
                world.broker.expire_lock(ENDPOINT, &session(&name));
            }
        } else {
            tokio::time::sleep(Duration::from_millis(rng.u64(1..20_000))).await;
        }
        if disturbance == Disturbance::Operators
            && let Some((order, gives_up)) = command(&world, &mut rng).await
        {
            counts.commands += 1;
            if gives_up {
                skipped.insert(order);
            }
        }
        receivers.retain(|(_, running)| {
            let dead = running.is_dead();
            if dead {
                running.kill();
                counts.died += 1;
            }
            !dead
        });
    }
    world.run_with(with_retries).await;
    for (_, running) in receivers {
        running.kill();
    }
    check(
        &world,
        &orders,
        &skipped,
        counts.commands,
        &violations,
        (seed, disturbance),
    );
    counts
}

/// An operator has what blocks a session handled once more, or gives it up: the event, and which.
///
/// By the time the command is received, its event may block no more.
async fn command(world: &World, rng: &mut Rng) -> Option<(String, bool)> {
    let name = rng.usize(0..SESSIONS).to_string();
    let state = world.broker.session_state(ENDPOINT, &session(&name));
    let order = state.blocked_by_event_id?.as_str().to_owned();
    let about = EventReference::new(name, order.as_str());
    let transport = world.broker.connect();
    let manager = ManagerClient::connect(&transport, ENDPOINT).await.unwrap();
    let gives_up = rng.u8(0..4) == 0;
    if gives_up {
        manager.skip(&about).await.unwrap();
    } else {
        let body = World::event(&order).to(ENDPOINT).body;
        let event = MessageContent::decode(&body).unwrap().event_content;
        manager.resubmit(&about, event.unwrap()).await.unwrap();
    }
    Some((order, gives_up))
}

/// A process that runs the subscriber until it dies.
fn receiver(world: &World, disturbance: Disturbance, rng: &mut Rng) -> (Process, Running) {
    let process = world.process();
    if disturbance == Disturbance::LostLocks {
        let slow = Fault::delay(SLOWEST / 4);
        process.store.inject(When::any(), slow.clone());
        process.store.inject(When::any(), slow.after_effect());
    } else {
        process.plan_crash(world, Some(rng.u64(0..120)));
    }
    let running = process.start(with_retries(process.builder(world)));
    (process, running)
}

/// The handler of an order fails some times, and notices what must not happen.
fn script(world: &World, order: &str, failures: usize, violations: &Violations, rng: &mut Rng) {
    for run in 0..200 {
        let (inbox, violations, order) =
            (world.inbox.clone(), violations.clone(), order.to_owned());
        let pause = Duration::from_millis(rng.u64(0..200));
        world.script.next(&order.clone(), async move |context| {
            if is_recorded(&inbox, &context) {
                violations.note(format!("{order} ran again after it was recorded"));
            }
            tokio::time::sleep(pause).await;
            if run < failures {
                Err(HandlerError::new("no stock"))
            } else {
                Ok(())
            }
        });
    }
}

fn is_recorded(inbox: &InMemoryInbox, context: &HandlerContext) -> bool {
    let id = context.message_id().unwrap_or_default();
    inbox.keys().contains(&key(ENDPOINT, id))
}

fn check(
    world: &World,
    orders: &[String],
    skipped: &BTreeSet<String>,
    commands: usize,
    violations: &Violations,
    (seed, disturbance): (u64, Disturbance),
) {
    let done = world.script.done();
    let mut effects: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for order in &done {
        let (name, event) = order.split_once('/').unwrap();
        effects.entry(name).or_default().push(event);
    }
    for (name, effects) in &mut effects {
        // An effect may come twice, where a process died before it was recorded or an operator
        // resubmitted what was done by then; never early.
        let is_skipped = |event: usize| skipped.contains(&format!("{name}/{event}"));
        let mut seen = BTreeSet::new();
        for effect in effects.iter() {
            let number: usize = effect.parse().unwrap();
            let missing = (0..number).find(|event| !seen.contains(event) && !is_skipped(*event));
            assert_eq!(missing, None, "seed {seed}: session {name} ran {effects:?}");
            seen.insert(number);
        }
        // With commands, a repeat may come late.
        if commands == 0 {
            effects.dedup();
            assert_eq!(
                effects.len(),
                EVENTS,
                "seed {seed}: session {name} ran {effects:?}"
            );
        }
    }
    for order in orders.iter().filter(|order| !skipped.contains(*order)) {
        assert!(done.contains(order), "seed {seed}: {order} was lost");
        assert!(
            world.is_recorded(&format!("m-{order}")),
            "seed {seed}: {order}"
        );
    }
    for name in 0..SESSIONS {
        let name = session(&name.to_string());
        let state = world.broker.session_state(ENDPOINT, &name);
        assert!(
            !state.is_blocked() && !state.has_deferred(),
            "seed {seed}: {state:?}"
        );
        assert_eq!(world.broker.parked(ENDPOINT, &name), [], "seed {seed}");
    }
    if disturbance != Disturbance::LostLocks {
        // Of two receivers at once, one may look before the other records.
        assert_eq!(*violations.0.lock().unwrap(), [""; 0], "seed {seed}");
    }
    world.assert_idle();
}
