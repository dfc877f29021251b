use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use nimbus_inbox_core::config::HumanDuration;
use nimbus_inbox_core::{Cutoff, InboxKey, InboxStoreExt, MessageId, Timestamp};
use serde::Serialize;

use super::events::found;
use super::explain;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::output::{Output, Table, fields, instant};
use crate::place::{Endpoint, Place};

#[derive(Subcommand)]
pub(crate) enum Command {
    Lookup(LookupArguments),
    /// Count the records, and say how old they are.
    Stats,
    Explain(explain::Arguments),
    Purge(PurgeArguments),
}

/// Say whether a message is recorded as done, and since when.
#[derive(Args)]
pub(crate) struct LookupArguments {
    /// The message's id.
    #[arg(value_name = "MESSAGE-ID")]
    message_id: String,
}

/// Remove records that are older than the retention.
///
/// A subscriber does so by itself. A message whose record is gone runs again if it is delivered
/// again.
#[derive(Args)]
pub(crate) struct PurgeArguments {
    /// Remove those that are older than this; the configured retention unless given.
    #[arg(long, value_name = "AGE")]
    older_than: Option<HumanDuration>,

    /// Don't ask.
    #[arg(long, short = 'y')]
    yes: bool,
}

#[derive(Serialize)]
struct LookupView {
    endpoint: String,
    message_id: String,
    recorded_at: Option<String>,
}

#[derive(Serialize)]
struct StatsView {
    endpoint: String,
    records: u64,
    oldest: Option<String>,
    newest: Option<String>,
    retention_seconds: u64,
}

#[derive(Serialize)]
struct PurgeView {
    endpoint: String,
    older_than: String,
    removed: u64,
}

pub(crate) async fn run(
    place: &Place,
    output: Output,
    command: Command,
) -> Result<ExitCode, Failure> {
    match command {
        Command::Lookup(arguments) => lookup(place.only()?, output, arguments).await,
        Command::Stats => stats(place, output).await,
        Command::Explain(arguments) => explain::run(place, output, arguments).await,
        Command::Purge(arguments) => purge(place.only()?, output, arguments).await,
    }
}

async fn lookup(
    endpoint: &Endpoint,
    output: Output,
    lookup: LookupArguments,
) -> Result<ExitCode, Failure> {
    let id = MessageId::new(&lookup.message_id).map_err(|problem| {
        Failure::usage(format!(
            "no message of that id is ever recorded: it is {problem}"
        ))
    })?;
    let inbox = endpoint.inbox().await?;
    let key = InboxKey::new(inbox.endpoint().clone(), id);
    let recorded_at = inbox.store().check_one(&key).await?;
    let view = LookupView {
        endpoint: endpoint.name().to_owned(),
        message_id: lookup.message_id,
        recorded_at: recorded_at.map(|at| at.to_string()),
    };
    output.show(&view, || {
        let recorded = view.recorded_at.as_deref().unwrap_or("never, or expired");
        fields(&[
            ("endpoint", Some(view.endpoint.clone())),
            ("message", Some(view.message_id.clone())),
            ("recorded", Some(recorded.to_owned())),
        ])
    })?;
    Ok(found(recorded_at.is_some()))
}

async fn stats(place: &Place, output: Output) -> Result<ExitCode, Failure> {
    let mut views = Vec::new();
    let mut table = Table::new(&["endpoint", "records", "oldest", "newest", "retention"]);
    for endpoint in place.endpoints() {
        let inbox = endpoint.inbox().await?;
        let stats = inbox.store().stats(inbox.endpoint()).await?;
        let stats = stats.ok_or_else(|| {
            let provider = inbox.store().provider();
            Failure::configuration(format!(
                "the inbox store {provider:?} doesn't count records"
            ))
        })?;
        let retention = inbox.options().retention_period();
        let or_dash = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), instant);
        table.row([
            endpoint.name().to_owned(),
            stats.records.to_string(),
            or_dash(stats.oldest),
            or_dash(stats.newest),
            HumanDuration(retention).to_string(),
        ]);
        views.push(StatsView {
            endpoint: endpoint.name().to_owned(),
            records: stats.records,
            oldest: stats.oldest.map(|at| at.to_string()),
            newest: stats.newest.map(|at| at.to_string()),
            retention_seconds: retention.as_secs(),
        });
    }
    output.show(&views, || table.render())?;
    Ok(ExitCode::SUCCESS)
}

async fn purge(
    endpoint: &Endpoint,
    output: Output,
    purge: PurgeArguments,
) -> Result<ExitCode, Failure> {
    let inbox = endpoint.inbox().await?;
    let retention = inbox.options().retention_period();
    let age = purge.older_than.map_or(retention, |age| age.0);
    let question = format!(
        "Remove the records of {} that are older than {}?{}",
        endpoint.name(),
        HumanDuration(age),
        warning(age, retention)
    );
    confirm(&question, purge.yes)?;
    let limit = inbox.options().purge_limit();
    let mut removed = 0;
    loop {
        let cutoff = Cutoff::OlderThan(age);
        let batch = inbox.store().purge(inbox.endpoint(), cutoff, limit).await?;
        removed += batch;
        if batch < u64::from(limit.get()) {
            break;
        }
        tokio::time::sleep(inbox.options().purge_pause()).await;
    }
    let view = PurgeView {
        endpoint: endpoint.name().to_owned(),
        older_than: HumanDuration(age).to_string(),
        removed,
    };
    output.show(&view, || {
        format!("removed {removed} records of {}\n", endpoint.name())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn warning(age: Duration, retention: Duration) -> String {
    if age >= retention {
        return String::new();
    }
    format!(
        " The configured retention is {}: a message that is delivered again after its record is \
         gone runs again.",
        HumanDuration(retention)
    )
}
