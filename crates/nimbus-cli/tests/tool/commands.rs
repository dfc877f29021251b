//! What operators ask for.

use std::collections::BTreeSet;

use nimbus_messaging::Headers;
use serde_json::json;

use crate::support::{ENDPOINT, World};

/// SUB-12, SUB-18, SUB-28: a resubmission has the blocking event handled, and what waits behind it
/// follows in order; until it is answered it is pending.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resubmission_ends_a_block() {
    let world = World::in_trouble().await;
    world.mend("blocks");
    let sent = world.json(&["resubmit", "blocks"]);
    let message_id = sent["sent"][0]["message_id"].as_str().unwrap();
    assert_eq!(world.state("blocks"), "pending");
    world.work().await;
    assert_eq!(world.done()[2..], ["blocks", "waits"]);
    assert_eq!(world.state("blocks"), "completed");
    assert_eq!(world.state("waits"), "completed");
    let history = world.json(&["events", "show", "blocks"])["history"].clone();
    let told: Vec<_> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["report"].clone(), entry["about"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!("failed"), json!("event")),
            (json!("resubmitted"), json!("command")),
            (json!("completed"), json!("resubmission")),
        ]
    );
    assert_eq!(history[2]["parent_message_id"], json!(message_id));
}

/// SUB-28: many events at a time, each under an id of its own, in the order in which they failed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_events_of_a_filter_are_resubmitted() {
    let world = World::new().await;
    for session in ["1", "2", "3"] {
        let event = nimbus_messaging::EventRequest::new("OrderPlaced", &"blocks")
            .unwrap()
            .with_event_id(format!("e-{session}"))
            .with_session(session);
        let sender = world.sender().await;
        sender.send(vec![event.to(ENDPOINT)]).await.unwrap();
        world.work().await;
    }
    let picked = world.json(&["resubmit", "--all", "--session", "2", "--dry-run"]);
    assert_eq!(picked.as_array().unwrap().len(), 1);
    assert_eq!(
        world.queue.inspector().queue(ENDPOINT).await.unwrap().ready,
        0
    );

    let sent = world.json(&["resubmit", "--all", "--type", "OrderPlaced"]);
    let sent = sent["sent"].as_array().unwrap();
    let events: Vec<_> = sent.iter().map(|it| it["event_id"].clone()).collect();
    assert_eq!(events, ["e-1", "e-2", "e-3"]);
    let ids: BTreeSet<_> = sent.iter().map(|it| it["message_id"].to_string()).collect();
    assert_eq!(ids.len(), 3);
    world.mend("blocks");
    world.work().await;
    assert_eq!(world.done().len(), 3);
    world
        .nimbus(&["resubmit", "--all"])
        .fails(1, "no event is to be resubmitted");
}

/// SUB-28: an event that nobody kept can't be resubmitted, and the refusal says why; of several,
/// none is sent then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_without_its_content_is_not_resubmitted() {
    let world = World::in_trouble().await;
    let told = Headers {
        message_id: Some("o-1".to_owned()),
        message_type: nimbus_messaging::MessageType::ErrorResponse,
        from: Some(ENDPOINT.into()),
        event_id: Some("large".into()),
        original_session_id: Some("l".to_owned()),
        ..Headers::default()
    };
    let resolver = nimbus_messaging::Transport::sender(&world.queue, &"Resolver".into()).await;
    let outcome = told.into_envelope(&nimbus_messaging::MessageContent::default());
    resolver.unwrap().send(vec![outcome]).await.unwrap();
    world.resolve().await;
    let refused = world.nimbus(&["resubmit", "blocks", "large"]);
    refused.fails(5, "no report has brought the event itself");
    assert_eq!(
        world.queue.inspector().queue(ENDPOINT).await.unwrap().ready,
        0
    );
}

/// SUB-12, SUB-28: what is done, parked, on its way or at an external job is resubmitted only by force,
/// since its work may then be done twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_is_not_doubled_by_accident() {
    let world = World::in_trouble().await;
    world.nimbus(&["resubmit", "fine"]).fails(5, "is completed");
    world.nimbus(&["resubmit", "waits"]).fails(5, "is parked");
    world
        .nimbus(&["resubmit", "job"])
        .fails(5, "waits for its external job");
    world.mend("blocks");
    let sent = world.json(&["resubmit", "blocks", "blocks"]);
    assert_eq!(sent["sent"].as_array().unwrap().len(), 1, "{sent}");
    world
        .nimbus(&["resubmit", "blocks"])
        .fails(5, "is on its way to its handler already");
    let waiting = world.queue.inspector().queue(ENDPOINT).await.unwrap().ready;
    assert_eq!(waiting, 1);
    world.json(&["resubmit", "fine", "--force"]);
    world.work().await;
    assert_eq!(world.done()[2..].len(), 3, "{:?}", world.done());
}

/// SUB-13: a skip ends the block without the work; it is asked for twice, and only where it has an
/// effect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_skip_is_confirmed_and_ends_a_block() {
    let world = World::in_trouble().await;
    world
        .nimbus(&["skip", "blocks"])
        .fails(5, "say --yes if it is meant");
    world
        .nimbus(&["skip", "waits", "--yes"])
        .fails(5, "is parked behind another event");
    world
        .nimbus(&["skip", "fine", "--yes"])
        .fails(5, "there is nothing to skip");
    assert_eq!(
        world.queue.inspector().queue(ENDPOINT).await.unwrap().ready,
        0
    );
    world.json(&["skip", "blocks", "--yes"]);
    world.work().await;
    assert_eq!(world.state("blocks"), "skipped");
    assert_eq!(world.state("waits"), "completed");
    assert_eq!(world.done()[2..], ["waits"]);
}

/// SUB-15: a job is settled from outside: done, or failed with the operator's words.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handoffs_are_settled() {
    let world = World::in_trouble().await;
    let refused = world.nimbus(&["handoff", "complete", "blocks"]);
    refused.fails(5, "is failed, and no job of it is known");
    world.json(&["handoff", "fail", "job", "--text", "bank says no"]);
    world.work().await;
    assert_eq!(world.state("job"), "failed");
    let shown = world.json(&["events", "show", "job"]);
    assert_eq!(shown["event"]["error_text"], json!("bank says no"));

    let world = World::in_trouble().await;
    world.json(&["handoff", "complete", "job"]);
    world.work().await;
    assert_eq!(world.state("job"), "completed");
    let listed = world.json(&["sessions", "list"]);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
}

/// SUB-15, SUB-28: with the session named, an event is settled that no resolver knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_settled_without_a_resolver() {
    let world = World::new().await;
    world.publish("j", "job").await;
    world.publish("j", "after").await;
    world.serve().await;
    let unknown = world.nimbus(&["handoff", "complete", "job"]);
    unknown.fails(3, "there is no resolver database");
    for (typo, session) in [("jbo", "j"), ("job", "jj")] {
        world
            .nimbus(&["handoff", "complete", typo, "--session", session])
            .fails(5, "doesn't wait for a job of event");
    }
    world.json(&["handoff", "complete", "job", "--session", "j"]);
    world.serve().await;
    assert_eq!(world.done(), ["job", "after"]);
}
