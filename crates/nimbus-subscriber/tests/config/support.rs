//! A directory with a configuration, and the providers of a program.

use std::fs;
use std::future::{Ready, ready};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use nimbus_inbox_core::config::{FilePath, HumanDuration, Secret};
use nimbus_inbox_core::{Error, InboxStoreKind};
use nimbus_inbox_testing::{BrokerOptions, InMemoryBroker, InMemoryInbox, InMemoryTransport};
use nimbus_messaging::{TransportCapabilities, TransportError};
use nimbus_subscriber::{Configuration, Providers, SubscriberError};
use serde::Deserialize;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

/// A password that must be seen nowhere.
pub(crate) const PLANTED: &str = "hunter2-planted";

/// The least that a configuration says.
pub(crate) const LEAST: &str = "endpoint = \"BillingEndpoint\"\n[transport]\nname = \"inmemory\"\n";

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoKeys {}

/// The settings of a provider that this project doesn't know.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcmeSettings {
    pub(crate) host: String,
    pub(crate) certificate: Option<FilePath>,
    pub(crate) password: Option<Secret>,
    pub(crate) connect_timeout: Option<HumanDuration>,
    pub(crate) pool_size: Option<u16>,
    pub(crate) tls: Option<bool>,
}

/// A section of the program's own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolverSettings {
    pub(crate) database: FilePath,
}

/// What was opened, with what.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opened(Arc<Mutex<Vec<AcmeSettings>>>);

impl Opened {
    pub(crate) fn last(&self) -> AcmeSettings {
        self.0.lock().unwrap().last().cloned().expect("opened")
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

pub(crate) struct Bench {
    directory: tempfile::TempDir,
    pub(crate) broker: InMemoryBroker,
    pub(crate) inbox: InMemoryInbox,
    pub(crate) opened: Opened,
    pub(crate) providers: Providers,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let broker = InMemoryBroker::new();
        broker.declare("BillingEndpoint");
        let inbox = InMemoryInbox::new();
        let opened = Opened::default();
        let providers = Providers::new()
            .inbox(InboxStoreKind::InMemory, in_memory(inbox.clone()))
            .inbox("acme", acme(opened.clone(), inbox.clone()))
            .transport("inmemory", connect(broker.clone()))
            .transport("poor", connect(poor()))
            .section::<ResolverSettings>("resolver");
        Self {
            directory: tempfile::tempdir().unwrap(),
            broker,
            inbox,
            opened,
            providers,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("billing.toml")
    }

    pub(crate) fn load(&self, text: &str) -> Result<Configuration, SubscriberError> {
        self.load_with(text, &[])
    }

    pub(crate) fn load_with(
        &self,
        text: &str,
        variables: &[(&str, &str)],
    ) -> Result<Configuration, SubscriberError> {
        fs::write(self.path(), text).unwrap();
        Configuration::load_with(self.path(), &self.providers, variables.iter().copied())
    }

    /// What is wrong, sorted, with the path of the file as people would pass it.
    pub(crate) fn problems(&self, text: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let error = self.load_with(text, variables).expect_err(text);
        let path = self.path().display().to_string();
        let problems = error.problems().iter();
        let mut problems: Vec<_> = problems
            .map(|problem| problem.replace(&path, "billing.toml"))
            .collect();
        problems.sort();
        problems
    }
}

fn in_memory(inbox: InMemoryInbox) -> impl Fn(NoKeys) -> Ready<Result<InMemoryInbox, Error>> {
    move |_| ready(Ok(inbox.clone()))
}

fn acme(
    opened: Opened,
    inbox: InMemoryInbox,
) -> impl Fn(AcmeSettings) -> Ready<Result<InMemoryInbox, Error>> {
    move |settings| {
        opened.0.lock().unwrap().push(settings);
        ready(Ok(inbox.clone()))
    }
}

fn connect(
    broker: InMemoryBroker,
) -> impl Fn(NoKeys) -> Ready<Result<InMemoryTransport, TransportError>> {
    move |_| ready(Ok(broker.connect()))
}

/// A broker without session state.
fn poor() -> InMemoryBroker {
    let capabilities = TransportCapabilities {
        session_store: false,
        ..BrokerOptions::default().capabilities
    };
    let options = BrokerOptions::default().with_capabilities(capabilities);
    InMemoryBroker::with_options(options)
}

/// What is logged while it lives.
pub(crate) struct Logs {
    text: Buffer,
    _guard: DefaultGuard,
}

impl Logs {
    pub(crate) fn capture() -> Self {
        let text = Buffer::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(text.clone())
            .finish();
        Self {
            text,
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.text.0.lock().unwrap()).into_owned()
    }
}

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Buffer {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
