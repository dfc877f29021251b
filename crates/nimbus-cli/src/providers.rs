//! What this tool is linked with.

use std::path::Path;

use nimbus_inbox_core::{Error, InboxStoreKind, Operation};
#[cfg(feature = "postgres")]
use nimbus_inbox_postgres::{PostgresInbox, PostgresInboxSettings, PostgresSessionSettings};
use nimbus_inbox_sqlite::{SqliteInbox, SqliteInboxSettings, SqliteSessionSettings};
use nimbus_messaging::TransportError;
use nimbus_resolver::ResolverSettings;
use nimbus_subscriber::Providers;
use nimbus_transport_embedded::{EmbeddedSettings, EmbeddedTransport};

use crate::place::RESOLVER;

/// What becomes of a file that a configuration names and that isn't there, or has no tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is made, as a subscriber would: whoever starts first.
    Made,
    /// It is refused. To whoever looks, an empty file made at a wrong path would seem to be an
    /// endpoint where all is well.
    Refused,
}

pub(crate) fn providers(missing: Missing) -> Providers {
    let providers = match missing {
        Missing::Made => Providers::new()
            .transport("embedded", EmbeddedSettings::open)
            .inbox(InboxStoreKind::Sqlite, SqliteInboxSettings::open),
        Missing::Refused => Providers::new()
            .transport("embedded", existing_queue)
            .inbox(InboxStoreKind::Sqlite, existing_inbox),
    };
    #[cfg(feature = "postgres")]
    let providers = match missing {
        Missing::Made => providers.inbox(InboxStoreKind::Postgres, PostgresInboxSettings::open),
        Missing::Refused => providers.inbox(InboxStoreKind::Postgres, existing_table),
    }
    .session_store("postgres", PostgresSessionSettings::open);
    providers
        .session_store("sqlite", SqliteSessionSettings::open)
        .section::<ResolverSettings>(RESOLVER)
        .leave_the_rest()
}

async fn existing_queue(
    mut settings: EmbeddedSettings,
) -> Result<EmbeddedTransport, TransportError> {
    if let Some(problem) = missing(settings.path.as_ref(), "queue") {
        return Err(TransportError::configuration(problem));
    }
    settings.auto_create = Some(false);
    settings.open().await
}

async fn existing_inbox(mut settings: SqliteInboxSettings) -> Result<SqliteInbox, Error> {
    if let Some(problem) = missing(settings.path.as_ref(), "inbox") {
        return Err(Error::configuration(Operation::Open, problem));
    }
    settings.auto_create = Some(false);
    settings.open().await
}

#[cfg(feature = "postgres")]
async fn existing_table(mut settings: PostgresInboxSettings) -> Result<PostgresInbox, Error> {
    settings.auto_create = Some(false);
    settings.open().await
}

fn missing(path: &Path, what: &str) -> Option<String> {
    (!path.exists()).then(|| {
        format!(
            "there is no {what} at {}; is the path right? A subscriber makes the file when it starts",
            path.display()
        )
    })
}
