use std::collections::HashMap;

use super::*;
use crate::events;

fn own_events() -> Vec<Event> {
    events::read(&events::own_file()).unwrap().events
}

fn event(line: usize, session: &str) -> Event {
    Event {
        line,
        message_id: format!("{session}:{line}"),
        session: Some(session.to_owned()),
        event_type: "OrderShipped".to_owned(),
        data: serde_json::value::to_raw_value(&serde_json::json!({})).unwrap(),
        cloud: None,
    }
}

fn held(plan: &Plan) -> Vec<&str> {
    plan.legs
        .iter()
        .filter_map(|leg| leg.kill.as_ref()?.message_id())
        .collect()
}

/// All that a plan promises, whatever the events and the seed.
fn check(events: &[Event], seed: u64) {
    let plan = Plan::new(events.to_vec(), seed);
    let sent: Vec<usize> = plan
        .legs
        .iter()
        .flat_map(|leg| leg.publications.clone())
        .collect();
    assert_eq!(
        sent,
        (0..plan.publications.len()).collect::<Vec<_>>(),
        "each is sent once"
    );
    assert!(
        plan.legs.last().unwrap().kill.is_none(),
        "the last consumer works to the end"
    );

    let mut first = HashMap::new();
    let originals: Vec<usize> = plan
        .publications
        .iter()
        .filter(|publication| {
            first.entry(publication.event).or_insert(publication.origin);
            publication.origin == Origin::File
        })
        .map(|publication| publication.event)
        .collect();
    assert_eq!(
        originals,
        (0..events.len()).collect::<Vec<_>>(),
        "in file order"
    );
    assert!(
        first.values().all(|origin| *origin == Origin::File),
        "copies come later"
    );

    let held = held(&plan);
    assert_eq!(held.len(), 2);
    assert_eq!(
        held[0] == held[1],
        events.len() == 1,
        "two messages if there are two"
    );
    for (leg, id) in plan.legs.iter().zip(&held) {
        let sent_by_then = &plan.publications[..leg.publications.end];
        assert!(
            sent_by_then
                .iter()
                .any(|one| plan.event(one).message_id == *id),
            "{id} is there to be held"
        );
        let place = events
            .iter()
            .position(|event| event.message_id == *id)
            .unwrap();
        for before in &events[..=place] {
            let blocks = before.session == events[place].session
                && plan.failures.contains_key(&before.message_id);
            assert!(!blocks, "{} blocks {id}", before.message_id);
        }
    }
    let most = disturbances::MOST_FAILED_ATTEMPTS;
    assert!(
        plan.failures
            .values()
            .all(|attempts| (1..=most).contains(attempts))
    );
}

#[test]
fn every_plan_keeps_its_promises() {
    let own = own_events();
    let one_session: Vec<Event> = (1..60).map(|line| event(line, "only")).collect();
    for seed in 0..50 {
        check(&own, seed);
        for count in [1, 2, 3, 10, one_session.len()] {
            check(&one_session[..count], seed);
        }
    }
}

#[test]
fn the_seed_decides() {
    let parts = |seed| {
        let plan = Plan::new(own_events(), seed);
        (plan.publications, plan.failures, plan.legs)
    };
    assert_eq!(parts(3), parts(3));
    assert_ne!(parts(3), parts(4));
}

#[test]
fn the_demos_own_events_get_all_kinds_of_trouble() {
    let plan = Plan::new(own_events(), 1);
    assert_eq!(plan.kills(), 3);
    assert!(matches!(plan.legs[0].kill, Some(Kill::BeforeRecord(_))));
    assert!(matches!(plan.legs[1].kill, Some(Kill::BeforeSettlement(_))));
    assert!(matches!(plan.legs[2].kill, Some(Kill::AfterDeliveries(_))));
    assert!(plan.publications.len() > plan.events.len() + 40);
    assert!(plan.failures.len() > 20);
}

#[test]
fn events_that_no_handler_takes_are_neither_held_nor_failing() {
    let mut unknown = event(1, "s");
    unknown.event_type = "LoyaltyPointsAwarded".to_owned();
    let plan = Plan::new(vec![unknown], 1);
    assert_eq!(plan.kills(), 0);
    assert!(plan.failures.is_empty());
}

#[test]
fn events_with_unusable_ids_are_sent_once_and_left_alone() {
    let mut events = vec![event(1, "s"), event(2, "s")];
    events[0].message_id = "   ".to_owned();
    for seed in 0..20 {
        let plan = Plan::new(events.clone(), seed);
        let blank = plan.publications.iter().filter(|one| one.event == 0);
        assert_eq!(blank.count(), 1);
        assert_eq!(held(&plan), ["s:2", "s:2"]);
    }
}
