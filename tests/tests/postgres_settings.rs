//! The secrets of PostgreSQL's stores come from the environment and are seen nowhere (SUB-32).
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

use std::error::Error;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use nimbus_inbox_core::InboxStoreKind;
use nimbus_inbox_postgres::{PostgresInboxSettings, PostgresSessionSettings};
use nimbus_messaging::SessionId;
use nimbus_subscriber::{Configuration, Providers, SubscriberError};
use nimbus_transport_embedded::EmbeddedSettings;

const PLANTED: &str = "hunter2-planted";

/// The sections, and what begins the names of their variables.
const SECTIONS: [(&str, &str); 2] = [
    ("inbox", "NIMBUS__INBOX__"),
    ("session_store", "NIMBUS__SESSION_STORE__"),
];

/// What is logged on this thread.
#[derive(Clone, Default)]
struct Logs(Arc<Mutex<Vec<u8>>>);

impl Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn load(
    section: &str,
    lines: &str,
    variables: &[(&str, &str)],
) -> Result<Configuration, SubscriberError> {
    let providers = Providers::new()
        .transport("embedded", EmbeddedSettings::open)
        .inbox(InboxStoreKind::Postgres, PostgresInboxSettings::open)
        .session_store("postgres", PostgresSessionSettings::open);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("billing.toml");
    let text = format!(
        "endpoint = \"BillingEndpoint\"\n[transport]\nname = \"embedded\"\npath = \"queue.db\"\n\
         [{section}]\nstore = \"postgres\"\nacquire_timeout = \"100ms\"\n{lines}"
    );
    std::fs::write(&path, text).unwrap();
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Configuration::load_with(&path, &providers, variables.collect::<Vec<_>>())
}

fn shown(error: &dyn Error) -> String {
    let mut text = format!("{error} {error:?}\n");
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!("{cause} {cause:?}\n");
        source = cause.source();
    }
    text
}

/// SUB-32: an address or a password in the file is refused, also where a variable gives it too, and
/// the text says which variable to set.
#[test]
fn a_secret_in_the_file_is_refused() {
    for (section, prefix) in SECTIONS {
        let url = format!("{prefix}URL");
        for (key, value) in [
            ("url", "postgres://billing@db/billing"),
            ("password", PLANTED),
        ] {
            let variable = format!("{prefix}{}", key.to_uppercase());
            let line = format!("{key} = \"{value}\"\n");
            for given in [&[][..], &[(url.as_str(), "x"), (variable.as_str(), "x")]] {
                let refused = load(section, &line, given).expect_err(&line).to_string();
                let told = format!(
                    "a file must not hold this secret; delete it and set the environment \
                     variable {variable} instead"
                );
                assert!(
                    refused.contains(&format!("{section}.{key} in ")),
                    "{refused}"
                );
                assert!(refused.contains(&told), "{refused}");
                assert!(!refused.contains(value), "{refused}");
            }
        }
        let missing = load(section, "", &[]).expect_err("no address").to_string();
        assert!(missing.contains(&url), "{missing}");
    }
}

/// SUB-32: no error, no debug text and no log line shows the password, whether it is given by itself
/// or in the address, which may be malformed, or of a server that isn't there.
#[tokio::test]
async fn a_secret_is_seen_nowhere() {
    let logs = Logs::default();
    let writer = logs.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let apart = (
        "postgres://billing@127.0.0.1:1/billing?sslmode=disable",
        Some(PLANTED),
    );
    let within = format!("postgres://billing:{PLANTED}@127.0.0.1:1/billing?sslmode=disable");
    let words = format!("host=127.0.0.1 port=1 user=billing password={PLANTED} sslmode=disable");
    let malformed = format!("postgres://billing:{PLANTED}@[db:5432/billing");
    let port = format!("postgres://billing:{PLANTED}@db:port/billing");
    let mut text = String::new();
    let mut opened = 0;
    for (section, prefix) in SECTIONS {
        for (url, password) in [
            apart,
            (&within, None),
            (&words, None),
            (&malformed, None),
            (&port, None),
        ] {
            let names = [format!("{prefix}URL"), format!("{prefix}PASSWORD")];
            let mut variables = vec![(names[0].as_str(), url)];
            variables.extend(password.map(|password| (names[1].as_str(), password)));
            let configuration = load(section, "", &variables).unwrap();
            text += &format!("{configuration:?}\n");
            match configuration.open_inbox().await {
                Ok(Some(inbox)) => {
                    opened += 1;
                    text += &format!("{inbox:?}\n");
                    text += &shown(&inbox.verify().await.expect_err("nobody is there"));
                }
                Ok(None) => {}
                Err(error) => text += &shown(&error),
            }
            match configuration.open_session_store().await {
                Ok(Some(sessions)) => {
                    opened += 1;
                    let session = SessionId::new("s").unwrap();
                    text += &format!("{sessions:?}\n");
                    text += &shown(&sessions.read(&session).await.expect_err("nobody is there"));
                }
                Ok(None) => {}
                Err(error) => text += &shown(&error),
            }
        }
    }
    assert_eq!(opened, 6, "{text}");
    assert!(text.contains("127.0.0.1:1"), "{text}");
    assert!(!text.contains(PLANTED), "{text}");
    let logged = String::from_utf8(logs.0.lock().unwrap().clone()).unwrap();
    assert!(!logged.contains(PLANTED), "{logged}");
}
