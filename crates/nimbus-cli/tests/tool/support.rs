//! A subscriber, its files, and the tool.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nimbus_inbox_core::InboxSetup;
use nimbus_inbox_sqlite::SqliteInbox;
use nimbus_messaging::{Address, EventRequest, Transport};
use nimbus_resolver::{Resolver, ResolverStore};
use nimbus_subscriber::{HandlerContext, HandlerError, Handoff, Subscriber};
use nimbus_transport_embedded::EmbeddedTransport;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const ENDPOINT: &str = "BillingEndpoint";

/// One endpoint on one machine.
pub(crate) struct World {
    directory: TempDir,
    pub(crate) queue: EmbeddedTransport,
    handlers: Handlers,
}

/// What handlers do: orders that are not mended fail as their name says.
#[derive(Debug, Clone, Default)]
struct Handlers {
    mended: Arc<Mutex<BTreeSet<String>>>,
    done: Arc<Mutex<Vec<String>>>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let queue = EmbeddedTransport::open(directory.path().join("queue.db"));
        let queue = queue.await.unwrap();
        queue.declare(ENDPOINT).await.unwrap();
        let world = Self {
            directory,
            queue,
            handlers: Handlers::default(),
        };
        world.configure(
            "billing.toml",
            "endpoint = \"BillingEndpoint\"\n\
             [transport]\nname = \"embedded\"\npath = \"queue.db\"\n\
             [inbox]\nstore = \"sqlite\"\npath = \"inbox.db\"\n\
             [resolver]\ndatabase = \"resolver.db\"\n",
        );
        world
    }

    /// A world where `blocks` failed, `waits` is parked behind it in the session `s`, `job` waits
    /// for an external job in `j`, and `fine` was handled twice; all known to the resolver.
    pub(crate) async fn in_trouble() -> Self {
        let world = Self::new().await;
        for (session, order) in [
            ("s", "blocks"),
            ("s", "waits"),
            ("j", "job"),
            ("f", "fine"),
            ("f", "fine"),
        ] {
            world.publish(session, order).await;
        }
        world.work().await;
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn configure(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// The event `order`, as message `m-<order>`.
    pub(crate) async fn publish(&self, session: &str, order: &str) {
        let event = EventRequest::new("OrderPlaced", &order)
            .unwrap()
            .with_message_id(format!("m-{order}"))
            .with_event_id(order)
            .with_session(session);
        let sender = self.queue.sender(&Address::from(ENDPOINT)).await.unwrap();
        sender.send(vec![event.to(ENDPOINT)]).await.unwrap();
    }

    /// From now on, the handler of this order succeeds.
    pub(crate) fn mend(&self, order: &str) {
        let mut mended = self.handlers.mended.lock().unwrap();
        mended.insert(order.to_owned());
    }

    /// The orders that were handled, in order.
    pub(crate) fn done(&self) -> Vec<String> {
        self.handlers.done.lock().unwrap().clone()
    }

    /// Runs subscriber and resolver until nothing is left to do.
    pub(crate) async fn work(&self) {
        self.serve().await;
        self.resolve().await;
    }

    pub(crate) async fn serve(&self) {
        let inbox = SqliteInbox::open(self.path("inbox.db")).await.unwrap();
        let subscriber = Subscriber::builder(ENDPOINT)
            .handle_with(self.handlers.clone(), "OrderPlaced", handle)
            .inbox(InboxSetup::new(inbox))
            .build(self.queue.clone())
            .unwrap();
        subscriber.run(self.empty(ENDPOINT)).await.unwrap();
    }

    pub(crate) async fn resolve(&self) {
        let store = ResolverStore::open(self.path("resolver.db")).await.unwrap();
        let resolver = Resolver::new(store, Arc::new(self.queue.clone()));
        resolver.run(self.empty("Resolver")).await.unwrap();
    }

    pub(crate) async fn empty(&self, address: &str) {
        while self.queue.inspector().queue(address).await.unwrap().ready > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The tool, on this world's configuration.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare(&["--config"]);
        command.arg(self.path("billing.toml")).args(arguments);
        command
    }

    /// The tool without a configuration.
    pub(crate) fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nimbus"));
        command
            .args(arguments)
            .env_remove("NIMBUS_CONFIG")
            .env_remove("NIMBUS_LOG")
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn nimbus(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// What the tool prints in JSON when it succeeds.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.nimbus(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        serde_json::from_str(&ran.out).expect("JSON")
    }

    /// The state of an event, as the tool tells it.
    pub(crate) fn state(&self, event: &str) -> String {
        let shown = self.json(&["events", "show", event]);
        shown["event"]["state"].as_str().unwrap().to_owned()
    }
}

async fn handle(
    handlers: Handlers,
    order: String,
    context: HandlerContext,
) -> Result<(), HandlerError> {
    let mended = handlers.mended.lock().unwrap().contains(&order);
    match order.as_str() {
        "blocks" | "alone" if !mended => {
            return Err(HandlerError::new("no rate").with_type("Rates"));
        }
        "dead" => return Err(HandlerError::dead_letter("never")),
        "job" => context.mark_pending_handoff(Handoff {
            reason: "slow bank".to_owned(),
            external_job_id: Some("job-7".to_owned()),
            expected_by: None,
        }),
        _ => {}
    }
    handlers.done.lock().unwrap().push(order);
    Ok(())
}

/// How the tool ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts the exit code and that the error says this.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, said: &str) {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.err.contains(said), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
    }
}

impl World {
    pub(crate) async fn sender(&self) -> Arc<dyn nimbus_messaging::Sender> {
        self.queue.sender(&Address::from(ENDPOINT)).await.unwrap()
    }
}
