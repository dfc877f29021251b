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

/// SUB-32: a wrong path is told. An empty file made there would look like an endpoint without trouble.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_made_at_a_wrong_path() {
    let world = World::in_trouble().await;
    world.configure(
        "typo.toml",
        "endpoint = \"BillingEndpoint\"\n\
         [transport]\nname = \"embedded\"\npath = \"quue.db\"\n\
         [inbox]\nstore = \"sqlite\"\npath = \"inbx.db\"\n\
         [resolver]\ndatabase = \"reslver.db\"\n",
    );
    let typo = |arguments: &[&str]| {
        let mut command = world.bare(&["-c", "typo.toml"]);
        Ran::of(command.args(arguments).output().unwrap())
    };
    typo(&["sessions", "list"]).fails(3, "there is no queue at");
    typo(&["skip", "e", "--session", "s", "--yes"]).fails(3, "there is no queue at");
    typo(&["inbox", "stats"]).fails(3, "there is no inbox at");
    typo(&["inbox", "explain", "BillingEndpoint", "m"]).fails(3, "there is no inbox at");
    typo(&["events", "list"]).fails(3, "there is no resolver database at");
    for name in ["quue.db", "inbx.db", "reslver.db"] {
        assert!(!world.path(name).exists(), "{name}");
        std::fs::copy(world.path("billing.toml"), world.path(name)).unwrap();
    }
    typo(&["sessions", "list"]).fails(3, "not a SQLite database");

    // Nor are tables made in a file that is something else.
    for name in ["quue.db", "inbx.db", "reslver.db"] {
        std::fs::write(world.path(name), "").unwrap();
    }
    typo(&["sessions", "list"]).fails(3, "a required table is missing");
    typo(&["inbox", "stats"]).fails(3, "a required table is missing");
    typo(&["events", "list"]).fails(3, "a required table is missing");
}

/// Who reads only the beginning of a list, as `head` does, ends the tool without an error; a result
/// that can't be written is told, since the script would miss it.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_pipe_is_no_failure() {
    let world = World::in_trouble().await;
    for command in [&["events", "list"][..], &["completions", "zsh"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = world.command(command).stdout(writer).output().unwrap();
        let ran = Ran::of(ran);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{command:?}");
    }
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut command = world.command(&["events", "list"]);
    let ran = Ran::of(command.stdout(full.unwrap()).output().unwrap());
    ran.fails(3, "its result can't be written");
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
