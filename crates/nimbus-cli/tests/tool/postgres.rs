//! Endpoints whose inbox is in PostgreSQL, as far as no server is needed.

use crate::support::{Ran, World};

const FILE: &str = "endpoint = \"BillingEndpoint\"\n\
     [transport]\nname = \"embedded\"\npath = \"queue.db\"\n\
     [inbox]\nstore = \"postgres\"\nacquire_timeout = \"100ms\"\n";

/// SUB-32: the tool takes the address from its environment, and shows it nowhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_inbox_in_postgres_is_opened() {
    let world = World::new().await;
    world.configure("billing.toml", FILE);
    world
        .nimbus(&["inbox", "stats"])
        .fails(3, "NIMBUS__INBOX__URL");

    // Nobody listens on that port.
    let url = "postgres://billing:planted@127.0.0.1:1/billing?sslmode=disable";
    let mut command = world.command(&["inbox", "stats"]);
    let ran = Ran::of(command.env("NIMBUS__INBOX__URL", url).output().unwrap());
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("127.0.0.1:1"), "{ran:?}");
    assert!(!format!("{ran:?}").contains("planted"), "{ran:?}");
}
