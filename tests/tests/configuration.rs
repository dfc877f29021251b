//! The page about configuration against the code (SUB-32).
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nimbus_inbox_core::InboxStoreKind;
use nimbus_inbox_postgres::{PostgresInboxSettings, PostgresSessionSettings};
use nimbus_inbox_sqlite::{SqliteInboxSettings, SqliteSessionSettings};
use nimbus_subscriber::{Configuration, Providers};
use nimbus_transport_embedded::EmbeddedSettings;
use nimbus_transport_rabbitmq::RabbitMqSettings;

const PAGE: &str = include_str!("../../docs/configuration.md");

fn providers() -> Providers {
    Providers::new()
        .transport("embedded", EmbeddedSettings::open)
        .transport("rabbitmq", RabbitMqSettings::open)
        .inbox(InboxStoreKind::Sqlite, SqliteInboxSettings::open)
        .session_store("sqlite", SqliteSessionSettings::open)
        .inbox(InboxStoreKind::Postgres, PostgresInboxSettings::open)
        .session_store("postgres", PostgresSessionSettings::open)
}

/// What a file of PostgreSQL's stores leaves to the environment; nothing connects to it.
fn variables() -> Vec<(String, String)> {
    let url = "postgres://billing@127.0.0.1:1/billing?sslmode=disable";
    let of = |section| (format!("NIMBUS__{section}__URL"), url.to_owned());
    vec![of("INBOX"), of("SESSION_STORE")]
}

/// What a file of RabbitMQ leaves to the environment; nothing connects to it.
fn broker() -> Vec<(String, String)> {
    let uri = "amqp://billing@127.0.0.1:1/%2f";
    vec![("NIMBUS__TRANSPORT__URI".to_owned(), uri.to_owned())]
}

/// The examples of a file on the page: the least one, that of everything, that of PostgreSQL, and
/// that of RabbitMQ.
fn examples() -> Vec<&'static str> {
    let blocks = PAGE.split("```toml\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
    blocks
        .filter(|block| block.starts_with("endpoint"))
        .collect()
}

struct Row {
    takes: &'static str,
    default: &'static str,
    variable: &'static str,
}

/// A key, after the provider whose it is if it is none of the subscriber's own.
type Key = (Option<String>, String);

/// The rows of the tables of keys. The heading of a table names its provider.
fn rows() -> BTreeMap<Key, Row> {
    let mut provider = None;
    let mut rows = BTreeMap::new();
    for line in PAGE.lines() {
        if line.starts_with('#') {
            provider = line.split('`').nth(1).map(str::to_owned);
        }
        if !line.starts_with("| `") {
            continue;
        }
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [key, takes, default, variable, _meaning] = cells[..] else {
            panic!("{line}")
        };
        let row = Row {
            takes,
            default,
            variable,
        };
        let key = (provider.clone(), key.trim_matches('`').to_owned());
        assert!(rows.insert(key, row).is_none(), "two rows: {line}");
    }
    rows
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("billing.toml")
    }

    fn load(&self, text: &str, variables: &[(String, String)]) -> Configuration {
        std::fs::write(self.path(), text).unwrap();
        let loaded = Configuration::load_with(self.path(), &providers(), variables.to_vec());
        loaded.unwrap_or_else(|error| panic!("{text}: {error}"))
    }
}

/// SUB-32: the page's examples are accepted, and open on the embedded defaults.
#[tokio::test]
async fn the_examples_are_accepted() {
    let examples = examples();
    assert_eq!(examples.len(), 4);
    for example in examples {
        let place = Place::new();
        let is_postgres = example.contains("\"postgres\"");
        let is_rabbitmq = example.contains("\"rabbitmq\"");
        let variables = match (is_postgres, is_rabbitmq) {
            (true, _) => variables(),
            (_, true) => broker(),
            _ => vec![],
        };
        let configuration = place.load(example, &variables);
        assert_eq!(configuration.endpoint().as_str(), "BillingEndpoint");
        if is_rabbitmq {
            // Opening it would connect.
            continue;
        }
        let transport = configuration.open_transport().await.unwrap();
        assert_eq!(transport.name(), "embedded");
        let inbox = configuration.open_inbox().await.unwrap().unwrap();
        let sessions = configuration.open_session_store().await.unwrap();
        assert_eq!(sessions.is_some(), example.contains("[session_store]"));
        if is_postgres {
            assert_eq!(inbox.store().provider(), "postgres");
            continue;
        }
        inbox.verify().await.unwrap();
        for file in ["queue.db", "inbox.db"] {
            assert!(place.0.path().join(file).exists(), "{file}");
        }
    }
}

/// SUB-32: the tables list every key there is and no other, with what it takes and its variable; the
/// example of everything sets each.
#[test]
fn the_tables_list_every_key() {
    let settings = providers().settings();
    let policy = |prefix: &str| -> Vec<_> {
        let keys = settings.iter().map(|setting| setting.key.as_str());
        keys.filter_map(|key| key.strip_prefix(prefix)).collect()
    };
    let of_default = policy("retry.default.");
    let elsewhere = ["retry.events.<name>.", "retry.rules[].policy."];
    for prefix in elsewhere {
        assert_eq!(policy(prefix), of_default);
    }
    let expected: BTreeMap<_, _> = settings
        .iter()
        .filter(|setting| {
            !elsewhere
                .iter()
                .any(|prefix| setting.key.starts_with(prefix))
        })
        .map(|setting| {
            let variable = setting.variable.as_ref();
            let variable = variable.map_or("only in the file".to_owned(), |v| format!("`{v}`"));
            let key = (setting.provider.clone(), setting.key.clone());
            (key, (setting.takes.clone(), variable))
        })
        .collect();
    let listed: BTreeMap<_, _> = rows()
        .into_iter()
        .map(|(key, row)| {
            let row = (row.takes.to_owned(), row.variable.to_owned());
            (key, row)
        })
        .collect();
    assert_eq!(listed, expected);

    for ((provider, key), (takes, _)) in &expected {
        let everything = match provider.as_deref() {
            Some("postgres") => examples()[2],
            Some("rabbitmq") => examples()[3],
            _ => examples()[1],
        };
        let name = key.trim_end_matches(".<name>").rsplit('.').next().unwrap();
        let section = key.split('.').next().filter(|_| provider.is_some());
        let lines = section.map_or(everything, |section| {
            let (_, own) = everything.split_once(&format!("\n[{section}]")).unwrap();
            own.split("\n[").next().unwrap()
        });
        assert_eq!(
            lines
                .lines()
                .any(|line| line.starts_with(&format!("{name} ="))),
            takes != "secret text",
            "{key} in the example"
        );
    }
}

/// SUB-32: each default on the page is what leaving the key out means, also when a variable gives
/// it.
#[tokio::test]
async fn the_defaults_are_those_of_the_code() {
    let place = Place::new();
    let least = format!(
        "{}[retry.default]\ndelay = \"5s\"\n[circuit_breaker]\nfailures = 5\n",
        examples()[0]
    );
    let shown = async |variables: &[(String, String)]| {
        let builder = place.load(&least, variables).subscriber().await.unwrap();
        let shown = format!("{builder:?}");
        // The open file shows an address in memory; its options are compared on their own.
        let (before, opened) = shown.split_once("transport: ").unwrap();
        let (_, after) = opened.split_once("session_store: ").unwrap();
        format!("{before}{after}")
    };
    let usual = shown(&[]).await;
    let mut compared = 0;
    for ((provider, key), row) in rows() {
        let Some(default) = row.default.strip_prefix('`') else {
            continue;
        };
        let default = default.trim_matches('`');
        compared += 1;
        if let Some(provider) = provider {
            let (section, name) = key.split_once('.').unwrap();
            let value =
                serde_json::from_str(default).unwrap_or_else(|_| serde_json::Value::from(default));
            let required = match &*provider {
                "postgres" => "url",
                "rabbitmq" => "uri",
                _ => "path",
            };
            let explicit = serde_json::json!({ required: "x", name: value });
            let absent = serde_json::json!({ required: "x" });
            assert_eq!(
                options(&provider, section, explicit),
                options(&provider, section, absent),
                "{key}"
            );
        } else {
            let variable = row.variable.trim_matches('`').to_owned();
            let explicit = shown(&[(variable, default.to_owned())]).await;
            assert_eq!(explicit, usual, "{key}");
        }
    }
    assert!(compared > 30, "{compared}");
    let other = [("NIMBUS__INBOX__RETENTION".to_owned(), "8 days".to_owned())];
    assert_ne!(shown(&other).await, usual);
}

/// What a provider makes of its settings.
fn options(provider: &str, section: &str, settings: serde_json::Value) -> String {
    match (provider, section) {
        ("embedded", "transport") => {
            let settings: EmbeddedSettings = serde_json::from_value(settings).unwrap();
            format!("{:?}", settings.options())
        }
        ("postgres", "inbox") => {
            let settings: PostgresInboxSettings = serde_json::from_value(settings).unwrap();
            format!("{:?}", settings.options().unwrap())
        }
        ("postgres", "session_store") => {
            let settings: PostgresSessionSettings = serde_json::from_value(settings).unwrap();
            format!("{:?}", settings.options().unwrap())
        }
        ("rabbitmq", "transport") => {
            let settings: RabbitMqSettings = serde_json::from_value(settings).unwrap();
            format!(
                "{:?} {:?}",
                settings.options(),
                settings.plaintext.unwrap_or(false)
            )
        }
        ("sqlite", "inbox") => {
            let settings: SqliteInboxSettings = serde_json::from_value(settings).unwrap();
            format!("{:?}", settings.options().unwrap())
        }
        ("sqlite", "session_store") => {
            let settings: SqliteSessionSettings = serde_json::from_value(settings).unwrap();
            format!(
                "{:?} {}",
                settings.options(),
                settings.auto_create.unwrap_or(true)
            )
        }
        other => panic!("{other:?}"),
    }
}

/// SUB-32: a path that is not absolute is relative to the directory of the file that names it.
#[tokio::test]
async fn paths_are_relative_to_the_file() {
    let place = Place::new();
    let configuration = place.load(examples()[0], &[]);
    let inbox = configuration.open_inbox().await.unwrap().unwrap();
    let shown = format!("{inbox:?}");
    let expected = place.0.path().join("inbox.db");
    assert!(expected.exists(), "{shown}");
    assert!(!Path::new("inbox.db").exists());
}
