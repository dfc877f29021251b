use serde_json::json;

use super::scene::Scene;
use super::verdict::{Seen, Verdict};
use crate::events;
use crate::ledger::Execution;
use crate::plan::Plan;

fn first_act() -> Plan {
    let file = events::read(&events::own_file()).unwrap();
    Plan::new(file.events, 1)
}

fn scene() -> Scene {
    Scene::beside(&first_act()).unwrap()
}

/// The work of an event. A resubmission's message id is none that was published.
fn execution(scene: &Scene, event: &str) -> Execution {
    let mut publications = scene.plan.publications.iter();
    let publication = publications
        .find(|one| scene.plan.event(one).message_id == event)
        .unwrap();
    Execution {
        publication: publication.number,
        message_id: Some("da6ce207-7033-4aa1-a53b-9faded2add9c".to_owned()),
        session: scene.plan.event(publication).session.clone(),
        run: 5,
    }
}

/// What a good run leaves in the ledger, the first act's entries among it.
fn executions(scene: &Scene) -> Vec<Execution> {
    let mut executions = vec![Execution {
        publication: 3,
        message_id: Some("order-1079:placed:1".to_owned()),
        session: Some("order-1079".to_owned()),
        run: 1,
    }];
    let events = scene.plan.events.iter().map(|event| &event.message_id);
    let by_billing = events.filter(|id| *id != scene.handed_off.troubled());
    executions.extend(by_billing.map(|id| execution(scene, id)));
    executions
}

/// What the resolver says after a good run.
fn seen(scene: &Scene) -> Vec<Seen> {
    let events = scene.plan.events.iter().map(|event| Seen {
        event_id: event.message_id.clone(),
        state: "completed".to_owned(),
    });
    events.collect()
}

#[test]
fn the_second_act_is_about_other_events() {
    let first = first_act();
    let scene = Scene::beside(&first).unwrap();
    assert_eq!(scene.plan.publications[0].number, first.publications.len());
    assert_eq!(scene.blocked.session, "order-9001");
    assert_eq!(scene.blocked.troubled(), "order-9001:payment-captured:1");
    assert_eq!(scene.handed_off.troubled(), "order-9002:refund-issued:1");
    assert_eq!(
        (scene.blocked.waiting(), scene.handed_off.waiting()),
        (2, 1)
    );

    // The user's own file may speak of the same orders.
    let again = Scene::beside(&scene.plan).unwrap();
    assert_eq!(again.blocked.session, "order-9003");
    assert_eq!(again.handed_off.session, "order-9004");
}

#[test]
fn all_of_its_events_can_be_booked() {
    for event in scene().plan.events {
        assert!(crate::billing::can_book(&event), "{event:?}");
    }
}

#[test]
fn a_good_second_act_is_clean() {
    let scene = scene();
    let verdict = Verdict::of(&scene, &executions(&scene), &seen(&scene));
    assert!(verdict.is_clean(), "{verdict:?}");
    assert_eq!((verdict.replayed, verdict.lost), (3, 0));
    assert!(verdict.in_order);
}

#[test]
fn what_nobody_did_is_lost() {
    let scene = scene();
    let mut executions = executions(&scene);
    executions.pop();
    let verdict = Verdict::of(&scene, &executions, &seen(&scene));
    assert_eq!((verdict.replayed, verdict.lost), (2, 1));
    let lost = "lost: nobody did the work of order-9002:refund-issued:2";
    assert_eq!(verdict.findings, [lost]);
    assert!(verdict.in_order);
}

#[test]
fn another_order_a_repetition_and_work_that_the_job_does_are_found() {
    let scene = scene();
    let good = executions(&scene);
    let mut swapped = good.clone();
    swapped.swap(3, 4);
    let mut repeated = good.clone();
    repeated.push(good[1].clone());
    let mut doubled = good.clone();
    doubled.push(execution(&scene, scene.handed_off.troubled()));
    for executions in [swapped, repeated, doubled] {
        let verdict = Verdict::of(&scene, &executions, &seen(&scene));
        assert!(!verdict.in_order && verdict.lost == 0, "{executions:?}");
        assert_eq!(verdict.findings.len(), 1);
    }
}

#[test]
fn a_session_that_the_tool_shows_otherwise_is_found() {
    let scene = scene();
    let shown = |blocked_by: Option<&str>, parked: u64| {
        let mut verdict = Verdict::default();
        let answer = json!({ "blocked_by_event_id": blocked_by, "parked": parked });
        verdict.expect_block(&scene.blocked, &answer);
        verdict.is_clean()
    };
    let troubled = scene.blocked.troubled();
    assert!(shown(Some(troubled), 2));
    assert!(!shown(Some(troubled), 3));
    assert!(!shown(Some(scene.handed_off.troubled()), 2));
    assert!(!shown(None, 2));
}

#[test]
fn a_resolver_that_was_told_something_else_is_found() {
    let scene = scene();
    let mut seen = seen(&scene);
    seen[1].state = "failed".to_owned();
    let unheard = seen.pop().unwrap().event_id;
    let verdict = Verdict::of(&scene, &executions(&scene), &seen);
    assert_eq!(
        verdict.findings,
        [
            "not completed: the resolver takes order-9001:payment-captured:1 for failed".to_owned(),
            format!("not completed: the resolver takes {unheard} for unknown"),
        ]
    );
}
