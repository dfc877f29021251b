//! Why a message is recorded, or is not.

use nimbus_messaging::EventRequest;
use serde_json::json;

use crate::support::{ENDPOINT, World};

/// INB-01, SUB-24: each end of a message has its own explanation, with the duplicates that were
/// seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_end_of_a_message_is_explained() {
    let world = World::in_trouble().await;
    world.publish("d", "dead").await;
    world.work().await;
    let explain = |id: &str| world.json(&["inbox", "explain", "BillingEndpoint", id]);
    let fine = explain("m-fine");
    assert_eq!(fine["verdict"], json!("recorded"));
    assert_eq!(fine["duplicates"], json!(1));
    assert!(fine["recorded_at"].is_string());
    assert_eq!(fine["events"][0]["reports"].as_array().unwrap().len(), 2);
    for (id, verdict) in [
        ("m-blocks", "failed"),
        ("m-waits", "deferred"),
        ("m-job", "handed-off"),
        ("m-dead", "dead-lettered"),
    ] {
        let explained = explain(id);
        assert_eq!(explained["verdict"], json!(verdict));
        assert_eq!(explained["recorded_at"], json!(null));
        assert!(explained["explanation"].as_str().unwrap().len() > 20);
    }
    world.json(&["handoff", "complete", "job"]);
    world.work().await;
    assert_eq!(explain("m-job")["verdict"], json!("completed-otherwise"));
    let page = world
        .nimbus(&["inbox", "explain", "BillingEndpoint", "m-fine"])
        .out;
    assert!(page.contains("every later delivery is skipped"), "{page}");
}

/// INB-03: an id that can't be recorded is told apart from one that was not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unusable_and_unknown_ids_are_told_apart() {
    let world = World::in_trouble().await;
    let blank = world.json(&["inbox", "explain", "BillingEndpoint", "  "]);
    assert_eq!(blank["verdict"], json!("unusable-id"));
    let unknown = world.nimbus(&["inbox", "explain", "BillingEndpoint", "m-?"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
    assert!(
        unknown.out.contains("the resolver has heard nothing of it"),
        "{unknown:?}"
    );
    let lookup = world.json(&["inbox", "lookup", "m-fine"]);
    assert!(lookup["recorded_at"].is_string());
    assert_eq!(world.nimbus(&["inbox", "lookup", "m-?"]).code, 1);
    world
        .nimbus(&["inbox", "lookup", ""])
        .fails(2, "it is missing");
}

/// INB-35: a message whose record has expired would run again, and so it is said.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_record_is_explained() {
    let world = World::in_trouble().await;
    let stats = world.json(&["inbox", "stats"]);
    assert_eq!(stats[0]["records"], json!(1));
    assert_eq!(stats[0]["retention_seconds"], json!(7 * 24 * 60 * 60));
    assert!(stats[0]["oldest"].is_string() && stats[0]["oldest"] == stats[0]["newest"]);
    let purge = ["inbox", "purge", "--older-than", "0s"];
    world
        .nimbus(&purge)
        .fails(5, "The configured retention is 7days");
    let purged = world.json(&[&purge[..], &["--yes"]].concat());
    assert_eq!(purged["removed"], json!(1));
    world.configure(
        "short.toml",
        "endpoint = \"BillingEndpoint\"\n\
         [transport]\nname = \"embedded\"\npath = \"queue.db\"\n\
         [inbox]\nstore = \"sqlite\"\npath = \"inbox.db\"\nretention = \"1ns\"\n\
         [resolver]\ndatabase = \"resolver.db\"\n",
    );
    let mut command = world.bare(&["--config", "short.toml", "--json", "inbox", "explain"]);
    let ran = command
        .args(["billingendpoint", "m-fine"])
        .output()
        .unwrap();
    let explained: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(explained["verdict"], json!("expired"));
}

/// INB-01: a record that was removed before its time isn't passed off as one that never was; nor is
/// it promised that a resubmission is recorded for a message without a session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_of_a_missing_record_is_true() {
    let world = World::in_trouble().await;
    let explain = |id: &str| world.json(&["inbox", "explain", "BillingEndpoint", id]);
    let said =
        |explained: &serde_json::Value| explained["explanation"].as_str().unwrap().to_owned();
    world.json(&["inbox", "purge", "--older-than", "0s", "--yes"]);
    let fine = explain("m-fine");
    assert_eq!(fine["verdict"], json!("removed"));
    assert!(said(&fine).contains("removed before its time"), "{fine}");

    assert!(said(&explain("m-blocks")).contains("ends the block"));
    world.mend("blocks");
    world.json(&["resubmit", "blocks"]);
    world.work().await;
    assert_eq!(explain("m-blocks")["verdict"], json!("recorded"));

    let alone = EventRequest::new("OrderPlaced", &"alone").unwrap();
    let alone = alone.with_message_id("m-alone").with_event_id("alone");
    let sender = world.sender().await;
    sender.send(vec![alone.to(ENDPOINT)]).await.unwrap();
    world.work().await;
    assert!(said(&explain("m-alone")).contains("is not recorded for it"));
    world.mend("alone");
    world.json(&["resubmit", "alone"]);
    world.work().await;
    assert_eq!(world.state("alone"), "completed");
    let alone = explain("m-alone");
    assert_eq!(alone["verdict"], json!("completed-otherwise"));
    assert_eq!(alone["recorded_at"], json!(null));
}
