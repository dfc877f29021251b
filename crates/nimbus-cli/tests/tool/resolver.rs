//! The resolver as a process.

use std::process::Stdio;
use std::time::Duration;

use crate::support::{Ran, World};

/// SUB-24, SUB-29: the resolver runs beside a subscriber and the tool; killed at any time and started again, it
/// has kept every report once; terminated, it says what it did.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_resolver_loses_and_doubles_nothing() {
    let world = World::new().await;
    for number in 0..60 {
        world
            .publish(&format!("s-{}", number % 7), &format!("o-{number}"))
            .await;
    }
    // Short locks, so that those of the killed one end soon.
    let text = "endpoint = \"BillingEndpoint\"\n\
         [transport]\nname = \"embedded\"\npath = \"queue.db\"\nlock_duration = \"1s\"\n\
         [resolver]\ndatabase = \"resolver.db\"\n";
    world.configure("short.toml", text);
    let spawn = || {
        let mut command = world.bare(&["-c", "short.toml", "resolver", "run"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut doomed = spawn();
    world.serve().await;
    doomed.kill().unwrap();
    doomed.wait().unwrap();

    let survivor = spawn();
    let emptied = tokio::time::timeout(Duration::from_secs(120), world.empty("Resolver"));
    emptied.await.expect("the reports are taken");
    let pid = survivor.id().to_string();
    let told = std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status();
    assert!(told.unwrap().success());
    let ran = Ran::of(survivor.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("received "), "{ran:?}");
    let counts = world.json(&["events", "count"]);
    assert_eq!(counts.as_array().unwrap().len(), 1, "{counts}");
    assert_eq!(counts[0]["state"], "completed");
    assert_eq!(counts[0]["events"], 60);
    let shown = world.json(&["events", "show", "o-59"]);
    assert_eq!(shown["event"]["reports"], 1);
}
