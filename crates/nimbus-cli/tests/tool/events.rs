//! What has become of events.

use serde_json::json;

use crate::support::World;

/// SUB-24: the list says what an event waits for; filters and pages pick among them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_listed_with_what_they_wait_for() {
    let world = World::in_trouble().await;
    let ran = world.nimbus(&["events", "list"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let line = |event: &str| {
        let found = ran.out.lines().find(|line| line.starts_with(event));
        let found = found.unwrap_or_else(|| panic!("no {event} in {}", ran.out));
        found.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(ran.out.starts_with("EVENT"), "{}", ran.out);
    let blocks = line("blocks");
    assert!(
        blocks.starts_with("blocks BillingEndpoint failed"),
        "{blocks}"
    );
    assert!(
        blocks.ends_with("OrderPlaced s 0 Rates: no rate"),
        "{blocks}"
    );
    assert!(line("job").ends_with("slow bank (job job-7)"));
    assert!(line("fine").contains("completed"));

    let ids = |arguments: &[&str]| {
        let listed = world.json(&[&["events", "list"], arguments].concat());
        let events = listed["events"].as_array().unwrap();
        let ids = events
            .iter()
            .map(|event| event["event_id"].as_str().unwrap());
        let mut ids: Vec<_> = ids.map(str::to_owned).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&[]), ["blocks", "fine", "job", "waits"]);
    assert_eq!(ids(&["--state", "failed,deferred"]), ["blocks", "waits"]);
    assert_eq!(ids(&["--session", "s", "--text", "NO RATE"]), ["blocks"]);
    assert_eq!(ids(&["--type", "OrderPlaced", "--since", "1h"]).len(), 4);
    let page = world.json(&["events", "list", "--limit", "3"]);
    let next = page["next"].as_str().expect("a fourth").to_owned();
    let rest = world.json(&["events", "list", "--limit", "3", "--after", &next]);
    assert_eq!(rest["events"].as_array().unwrap().len(), 1);
    assert_eq!(rest["next"], json!(null));
}

/// SUB-24: one event with its history; its own content only where it is asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_shown_with_its_history() {
    let world = World::in_trouble().await;
    let shown = world.json(&["events", "show", "FINE"]);
    let event = &shown["event"];
    for (member, expected) in [
        ("endpoint", json!("BillingEndpoint")),
        ("event_id", json!("fine")),
        ("message_id", json!("m-fine")),
        ("state", json!("completed")),
        ("event_type", json!("OrderPlaced")),
        ("session_id", json!("f")),
        ("error_text", json!(null)),
        ("reports", json!(2)),
        ("duplicates", json!(1)),
        ("has_content", json!(true)),
    ] {
        assert_eq!(event[member], expected, "{member}");
    }
    assert_eq!(shown["content"], json!(null));
    let history = shown["history"].as_array().unwrap();
    let told: Vec<_> = history
        .iter()
        .map(|entry| (entry["report"].clone(), entry["moved_to"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!("completed"), json!("completed")),
            (json!("duplicate"), json!(null))
        ]
    );
    let with_content = world.json(&["events", "show", "fine", "--content"]);
    assert_eq!(with_content["content"]["event_json"], json!("\"fine\""));

    let page = world.nimbus(&["events", "show", "blocks"]).out;
    for part in ["state:", "failed, since 20", "Rates: no rate", "MOVED TO"] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

/// The JSON has the members that the documentation names, and no others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_json_has_the_documented_members() {
    const DOCUMENTED: &str = include_str!("../../../../docs/tool.md");
    let world = World::in_trouble().await;
    let listed = world.json(&["events", "list"]);
    let shown = world.json(&["events", "show", "blocks"]);
    let sessions = world.json(&["sessions", "show", "s"]);
    let explained = world.json(&["inbox", "explain", "BillingEndpoint", "m-fine"]);
    let sent = world.json(&["resubmit", "blocks"]);
    for (name, value) in [
        ("event", &listed["events"][0]),
        ("history", &shown["history"][0]),
        ("session", &sessions["session"]),
        ("message", &sessions["messages"][0]),
        ("explanation", &explained),
        ("sent", &sent["sent"][0]),
    ] {
        let members = value
            .as_object()
            .unwrap_or_else(|| panic!("{name}: {value}"));
        let mut found: Vec<_> = members.keys().map(|member| format!("`{member}`")).collect();
        found.sort();
        let row = DOCUMENTED
            .lines()
            .find_map(|line| line.strip_prefix(&format!("| {name} | ")))
            .unwrap_or_else(|| panic!("{name} is not documented; it has {}", found.join(", ")));
        let mut documented: Vec<_> = row.trim_end_matches(" |").split(", ").collect();
        documented.sort_unstable();
        assert_eq!(found, documented, "{name}");
    }
}

/// Counts by state, for a look at how things are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_counted() {
    let world = World::in_trouble().await;
    let counts = world.json(&["events", "count"]);
    let completed = json!({
        "endpoint": "BillingEndpoint", "state": "completed", "events": 1, "duplicates": 1
    });
    assert!(counts.as_array().unwrap().contains(&completed), "{counts}");
}
