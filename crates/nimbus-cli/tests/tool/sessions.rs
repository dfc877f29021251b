//! Sessions that are blocked.

use serde_json::json;

use crate::support::World;

/// SUB-10, SUB-14, SUB-35: what blocks a session, since when, and what waits behind it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocked_sessions_say_what_blocks_them() {
    let world = World::in_trouble().await;
    let listed = world.json(&["sessions", "list"]);
    let sessions = listed["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "{listed}");
    let (job, session) = (&sessions[0], &sessions[1]);
    assert_eq!(job["session_id"], json!("j"));
    assert_eq!(job["waits_for_handoff"], json!(true));
    for (member, expected) in [
        ("session_id", json!("s")),
        ("status", json!("blocked")),
        ("blocked_by_event_id", json!("blocks")),
        ("blocked_by_message_id", json!("m-blocks")),
        ("blocked_by_state", json!("failed")),
        ("error_type", json!("Rates")),
        ("error_text", json!("no rate")),
        ("parked", json!(1)),
    ] {
        assert_eq!(session[member], expected, "{member}");
    }
    assert!(session["blocked_since"].as_str().unwrap().starts_with("20"));

    let shown = world.nimbus(&["sessions", "show", "s"]).out;
    for part in ["blocked by:", "Rates: no rate", "waits", "m-waits"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let free = world.json(&["sessions", "show", "nobody's"]);
    assert_eq!(free["session"]["status"], json!("free"));
    assert_eq!(free["messages"], json!([]));
}

/// Without a resolver, what the session itself knows is shown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_shown_without_a_resolver() {
    let world = World::new().await;
    world.publish("s", "blocks").await;
    world.serve().await;
    let shown = world.json(&["sessions", "show", "s"]);
    assert_eq!(shown["session"]["error_text"], json!("no rate"));
    assert_eq!(shown["session"]["blocked_since"], json!(null));
}

/// SUB-16: nothing drains a blocked session; SUB-18: a free one is asked to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_free_session_is_drained() {
    let world = World::in_trouble().await;
    let refused = world.nimbus(&["sessions", "drain", "s"]);
    refused.fails(5, "event \"blocks\" blocks session \"s\"");
    let sent = world.json(&["sessions", "drain", "f"]);
    assert_eq!(sent["sent"][0]["command"], json!("drain"));
    let queued = world
        .queue
        .inspector()
        .messages("BillingEndpoint", 10)
        .await;
    assert_eq!(queued.unwrap().len(), 1);
}
