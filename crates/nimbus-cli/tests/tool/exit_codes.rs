//! What scripts can rely on.

use crate::support::{Ran, World};

/// The documented exit codes, and errors that say what to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_have_their_codes() {
    let world = World::in_trouble().await;
    for command in [
        &["events", "show", "nobody"][..],
        &["resubmit", "nobody"],
        &["skip", "nobody", "--yes"],
        &["handoff", "complete", "nobody"],
    ] {
        let unknown = world.nimbus(command);
        unknown.fails(1, "the resolver has heard nothing of an event \"nobody\"");
    }
    let none = world.nimbus(&["events", "list", "--state", "unsupported"]);
    assert_eq!(none.code, 1, "{none:?}");

    let bare = |arguments: &[&str]| Ran::of(world.bare(arguments).output().unwrap());
    bare(&["events", "list"]).fails(2, "no configuration is given");
    bare(&["events", "lost"]).fails(2, "lost");
    world
        .nimbus(&["events", "list", "--state", "lost"])
        .fails(2, "the states are pending");
    world
        .nimbus(&["-e", "Shipping", "events", "list"])
        .fails(2, "BillingEndpoint");

    bare(&["-c", "nowhere.toml", "events", "list"]).fails(3, "nowhere.toml");
    let broken = "endpoint = \"BillingEndpoint\"\n[transport]\nname = \"embedded\"\npaht = \"q\"\n";
    world.configure("broken.toml", broken);
    bare(&["-c", "broken.toml", "events", "list"]).fails(3, "path");
    let least = "endpoint = \"E\"\n[transport]\nname = \"embedded\"\npath = \"queue.db\"\n";
    world.configure("least.toml", least);
    bare(&["-c", "least.toml", "events", "list"]).fails(3, "has no section [resolver]");
    bare(&["-c", "least.toml", "inbox", "lookup", "m"]).fails(3, "no section [inbox]");
    bare(&["-c", "least.toml", "sessions", "list"]).fails(3, "no queue \"E\" is declared");
}

/// SUB-30: what does not answer now has a code of its own, so that a script can try again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_queue_is_unreachable() {
    let world = World::in_trouble().await;
    let text = "endpoint = \"BillingEndpoint\"\n\
         [transport]\nname = \"embedded\"\npath = \"queue.db\"\nbusy_timeout = \"1ms\"\n\
         [resolver]\ndatabase = \"resolver.db\"\n";
    world.configure("impatient.toml", text);
    let stranger = nimbus_inbox_sqlite::rusqlite::Connection::open(world.path("queue.db"));
    let stranger = stranger.unwrap();
    stranger.execute_batch("begin immediate").unwrap();
    let mut command = world.bare(&["-c", "impatient.toml", "resubmit", "blocks"]);
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("try again"), "{ran:?}");
}

/// SUB-32: the file of a program may have sections that only the program knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sections_of_the_program_are_left_alone() {
    let world = World::in_trouble().await;
    let path = world.path("billing.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    world.configure(
        "billing.toml",
        &format!("{text}[payment]\nurl = \"https://bank\"\n"),
    );
    let mut command = world.command(&["events", "list"]);
    let ran = command.env("NIMBUS__PAYMENT__KEY", "x").output().unwrap();
    assert_eq!(Ran::of(ran).code, 0);
}

/// Several endpoints: each is found by its event, and a choice is asked for where it is needed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_endpoints_are_told_apart() {
    let world = World::in_trouble().await;
    let other = "endpoint = \"ShippingEndpoint\"\n\
         [transport]\nname = \"embedded\"\npath = \"queue.db\"\n\
         [resolver]\ndatabase = \"resolver.db\"\n";
    world.configure("shipping.toml", other);
    world.queue.declare("ShippingEndpoint").await.unwrap();
    let both = |arguments: &[&str]| {
        let mut command = world.bare(arguments);
        let files = std::env::join_paths(["billing.toml", "shipping.toml"]).unwrap();
        Ran::of(command.env("NIMBUS_CONFIG", files).output().unwrap())
    };
    let listed = both(&["events", "list"]);
    assert_eq!(listed.out.lines().count(), 5, "{listed:?}");
    assert_eq!(both(&["events", "show", "blocks"]).code, 0);
    both(&["sessions", "show", "s"]).fails(2, "choose one with --endpoint");
    assert_eq!(
        both(&["-e", "billingendpoint", "sessions", "show", "s"]).code,
        0
    );
    let sessions = both(&["sessions", "list"]);
    assert_eq!(sessions.out.lines().count(), 3, "{sessions:?}");
}

/// A text of a message can't steer the terminal that it is shown on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_texts_are_shown_harmless() {
    let world = World::new().await;
    world.publish("s", "evil\u{1b}[2J").await;
    world.work().await;
    let listed = world.nimbus(&["events", "list"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(
        !listed.out.contains('\u{1b}') && listed.out.contains("evil"),
        "{listed:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn completions_need_no_configuration() {
    let world = World::new().await;
    for shell in ["bash", "zsh", "fish"] {
        let ran = Ran::of(world.bare(&["completions", shell]).output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.contains("resubmit"), "{shell}");
    }
}
