use std::num::NonZeroU32;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use nimbus_resolver::{Cursor, EventFilter};
use serde::Serialize;

use super::filter::FilterArguments;
use crate::failure::Failure;
use crate::find;
use crate::output::{EventView, HistoryView, Output, Table};
use crate::place::Place;

#[derive(Subcommand)]
pub(crate) enum Command {
    List(ListArguments),
    Show(ShowArguments),
    Count(CountArguments),
}

/// List events, the last heard of first.
#[derive(Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    filter: FilterArguments,

    /// How many at most.
    #[arg(long, value_name = "NUMBER", default_value = "50")]
    limit: NonZeroU32,

    /// Where the page before ended, as it says.
    #[arg(long, value_name = "PLACE")]
    after: Option<Cursor>,
}

/// Show one event with everything that was reported of it.
#[derive(Args)]
pub(crate) struct ShowArguments {
    /// Its event id, or the id of its message if it has none.
    #[arg(value_name = "EVENT-ID")]
    id: String,

    /// Print the event itself too.
    #[arg(long)]
    content: bool,
}

/// Count events by endpoint and state.
#[derive(Args)]
pub(crate) struct CountArguments {
    #[command(flatten)]
    filter: FilterArguments,
}

#[derive(Serialize)]
struct ListView {
    events: Vec<EventView>,
    next: Option<String>,
}

#[derive(Serialize)]
struct ShowView {
    event: EventView,
    content: Option<ContentView>,
    history: Vec<HistoryView>,
}

#[derive(Serialize)]
struct ContentView {
    event_type: Option<String>,
    event_json: Option<String>,
}

#[derive(Serialize)]
struct CountView {
    endpoint: String,
    state: &'static str,
    events: u64,
    duplicates: u64,
}

pub(crate) async fn run(
    place: &Place,
    output: Output,
    command: Command,
) -> Result<ExitCode, Failure> {
    match command {
        Command::List(arguments) => list(place, output, arguments).await,
        Command::Show(arguments) => show(place, output, arguments).await,
        Command::Count(arguments) => count(place, output, arguments).await,
    }
}

async fn list(place: &Place, output: Output, list: ListArguments) -> Result<ExitCode, Failure> {
    let store = place.resolver().await?;
    let filter = scoped(place, list.filter.filter());
    let page = store.events(filter, list.after, list.limit.get()).await?;
    let next = page.next.map(|next| next.to_string());
    let view = ListView {
        events: page.events.iter().map(EventView::from).collect(),
        next: next.clone(),
    };
    output.show(&view, || {
        let mut text = EventView::table(&page.events);
        if let Some(next) = next {
            text.push_str(&format!("more: --after {next}\n"));
        }
        text
    })?;
    Ok(found(!page.events.is_empty()))
}

async fn show(place: &Place, output: Output, show: ShowArguments) -> Result<ExitCode, Failure> {
    let found = find::event(place, &show.id).await?;
    let history = found.store.history(&found.event.key).await?;
    let content = found.event.content.clone().filter(|_| show.content);
    let view = ShowView {
        event: (&found.event).into(),
        content: content.clone().map(|content| ContentView {
            event_type: content.event_type_id,
            event_json: content.event_json,
        }),
        history: history.iter().map(HistoryView::from).collect(),
    };
    output.show(&view, || {
        let mut text = EventView::page(&found.event, &history);
        if let Some(json) = content.and_then(|content| content.event_json) {
            text.push_str(&format!("\n{}\n", crate::output::plain(&json)));
        }
        text
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn count(place: &Place, output: Output, count: CountArguments) -> Result<ExitCode, Failure> {
    let store = place.resolver().await?;
    let counts = store.counts(scoped(place, count.filter.filter())).await?;
    let views: Vec<CountView> = counts
        .iter()
        .map(|count| CountView {
            endpoint: count.endpoint.as_str().to_owned(),
            state: count.state.as_str(),
            events: count.events,
            duplicates: count.duplicates,
        })
        .collect();
    output.show(&views, || {
        let mut table = Table::new(&["endpoint", "state", "events", "duplicates"]);
        for count in &views {
            table.row([
                count.endpoint.clone(),
                count.state.to_owned(),
                count.events.to_string(),
                count.duplicates.to_string(),
            ]);
        }
        table.render()
    })?;
    Ok(found(!views.is_empty()))
}

/// Of one endpoint, where only one is configured or chosen.
pub(crate) fn scoped(place: &Place, filter: EventFilter) -> EventFilter {
    match place.only() {
        Ok(endpoint) => filter.with_endpoint(endpoint.name()),
        Err(_) => filter,
    }
}

pub(crate) fn found(any: bool) -> ExitCode {
    ExitCode::from(u8::from(!any))
}
