//! The page about configuration against the code (SUB-32).
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nimbus_inbox_core::InboxStoreKind;
use nimbus_inbox_sqlite::{SqliteInboxSettings, SqliteSessionSettings};
use nimbus_subscriber::{Configuration, Providers};
use nimbus_transport_embedded::EmbeddedSettings;

const PAGE: &str = include_str!("../../docs/configuration.md");

fn providers() -> Providers {
    Providers::new()
        .transport("embedded", EmbeddedSettings::open)
        .inbox(InboxStoreKind::Sqlite, SqliteInboxSettings::open)
        .session_store("sqlite", SqliteSessionSettings::open)
}

/// The examples of a file on the page, the least one and that of everything.
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

/// The rows of the tables of keys, by key.
fn rows() -> BTreeMap<&'static str, Row> {
    let lines = PAGE.lines().filter(|line| line.starts_with("| `"));
    let rows = lines.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [key, takes, default, variable, _meaning] = cells[..] else {
            panic!("{line}")
        };
        let row = Row {
            takes,
            default,
            variable,
        };
        (key.trim_matches('`'), row)
    });
    let rows: Vec<_> = rows.collect();
    let count = rows.len();
    let rows = BTreeMap::from_iter(rows);
    assert_eq!(rows.len(), count, "a key has two rows");
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
    assert_eq!(examples.len(), 2);
    for example in examples {
        let place = Place::new();
        let configuration = place.load(example, &[]);
        assert_eq!(configuration.endpoint().as_str(), "BillingEndpoint");
        let transport = configuration.open_transport().await.unwrap();
        assert_eq!(transport.name(), "embedded");
        let inbox = configuration.open_inbox().await.unwrap().unwrap();
        inbox.verify().await.unwrap();
        let sessions = configuration.open_session_store().await.unwrap();
        assert_eq!(sessions.is_some(), example.contains("[session_store]"));
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
            (setting.key.clone(), (setting.takes.clone(), variable))
        })
        .collect();
    let listed: BTreeMap<_, _> = rows()
        .into_iter()
        .map(|(key, row)| {
            (
                key.to_owned(),
                (row.takes.to_owned(), row.variable.to_owned()),
            )
        })
        .collect();
    assert_eq!(listed, expected);

    let everything = examples()[1];
    for key in expected.keys() {
        let name = key.trim_end_matches(".<name>").rsplit('.').next().unwrap();
        assert!(
            everything
                .lines()
                .any(|line| line.starts_with(&format!("{name} ="))),
            "{key} is not in the example"
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
    let providers_own: Vec<_> = providers()
        .settings()
        .into_iter()
        .filter(|setting| setting.provider.is_some())
        .map(|setting| setting.key)
        .collect();
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
    for (key, row) in rows() {
        let Some(default) = row.default.strip_prefix('`') else {
            continue;
        };
        let default = default.trim_matches('`');
        compared += 1;
        if providers_own.iter().any(|own| own == key) {
            let (section, name) = key.split_once('.').unwrap();
            let value =
                serde_json::from_str(default).unwrap_or_else(|_| serde_json::Value::from(default));
            let explicit = serde_json::json!({ "path": "x", name: value });
            let absent = serde_json::json!({ "path": "x" });
            assert_eq!(
                options(section, explicit),
                options(section, absent),
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
fn options(section: &str, settings: serde_json::Value) -> String {
    match section {
        "transport" => {
            let settings: EmbeddedSettings = serde_json::from_value(settings).unwrap();
            format!("{:?}", settings.options())
        }
        "inbox" => {
            let settings: SqliteInboxSettings = serde_json::from_value(settings).unwrap();
            format!("{:?}", settings.options().unwrap())
        }
        "session_store" => {
            let settings: SqliteSessionSettings = serde_json::from_value(settings).unwrap();
            format!(
                "{:?} {}",
                settings.options(),
                settings.auto_create.unwrap_or(true)
            )
        }
        other => panic!("{other}"),
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
