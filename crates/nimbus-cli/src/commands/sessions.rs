use std::num::NonZeroU32;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use nimbus_messaging::{SessionId, SessionOverview};
use nimbus_resolver::{EventKey, EventRecord, ResolverStore};
use serde::Serialize;

use super::events::found;
use super::sent::{self, Sent};
use crate::failure::Failure;
use crate::output::{Output, ParkedView, SessionView};
use crate::place::Place;

#[derive(Subcommand)]
pub(crate) enum Command {
    List(ListArguments),
    Show(ShowArguments),
    Drain(DrainArguments),
}

/// List the sessions that are blocked or have messages set aside.
#[derive(Args)]
pub(crate) struct ListArguments {
    /// How many of each endpoint at most.
    #[arg(long, value_name = "NUMBER", default_value = "100")]
    limit: NonZeroU32,

    /// The last session of the page before.
    #[arg(long, value_name = "SESSION")]
    after: Option<String>,
}

/// Show what blocks a session, and what waits in it.
#[derive(Args)]
pub(crate) struct ShowArguments {
    /// The session.
    session: String,

    /// How many of the waiting messages at most.
    #[arg(long, value_name = "NUMBER", default_value = "20")]
    limit: NonZeroU32,
}

/// Have the messages that wait in a session handled, if nothing blocks it.
#[derive(Args)]
pub(crate) struct DrainArguments {
    /// The session.
    session: String,
}

#[derive(Serialize)]
struct ListView {
    sessions: Vec<SessionView>,
}

#[derive(Serialize)]
struct ShowView {
    session: SessionView,
    messages: Vec<ParkedView>,
}

pub(crate) async fn run(
    place: &Place,
    output: Output,
    command: Command,
) -> Result<ExitCode, Failure> {
    match command {
        Command::List(arguments) => list(place, output, arguments).await,
        Command::Show(arguments) => show(place, output, arguments).await,
        Command::Drain(arguments) => drain(place, output, arguments).await,
    }
}

async fn list(place: &Place, output: Output, list: ListArguments) -> Result<ExitCode, Failure> {
    let after = list.after.and_then(SessionId::new);
    let mut sessions = Vec::new();
    for endpoint in place.endpoints() {
        let directory = endpoint.sessions().await?;
        let resolver = endpoint.resolver_if_any().await?;
        for session in directory.list(after.as_ref(), list.limit).await? {
            let blocking = blocking(resolver.as_ref(), endpoint.name(), &session).await?;
            let view = SessionView::new(endpoint.name(), &session, blocking.as_ref());
            sessions.push(view);
        }
    }
    let view = ListView { sessions };
    output.show(&view, || SessionView::table(&view.sessions))?;
    Ok(found(!view.sessions.is_empty()))
}

async fn show(place: &Place, output: Output, show: ShowArguments) -> Result<ExitCode, Failure> {
    let endpoint = place.only()?;
    let id = named(&show.session)?;
    let directory = endpoint.sessions().await?;
    let session = directory.look(&id).await?;
    let copies = directory.parked(&id, show.limit).await?;
    let resolver = endpoint.resolver_if_any().await?;
    let blocking = blocking(resolver.as_ref(), endpoint.name(), &session).await?;
    let view = ShowView {
        session: SessionView::new(endpoint.name(), &session, blocking.as_ref()),
        messages: copies.iter().map(ParkedView::from).collect(),
    };
    output.show(&view, || view.session.page(&view.messages))?;
    Ok(ExitCode::SUCCESS)
}

async fn drain(place: &Place, output: Output, drain: DrainArguments) -> Result<ExitCode, Failure> {
    let endpoint = place.only()?;
    let id = named(&drain.session)?;
    // A transport that can't look is asked all the same: a drain does no harm.
    if let Ok(directory) = endpoint.sessions().await {
        let state = directory.look(&id).await?.state;
        if let Some(event) = state.and_then(|state| state.blocked_by_event_id) {
            return Err(Failure::refused(format!(
                "event {:?} blocks session {:?}, and nothing drains a blocked session; resubmit or \
                 skip the event",
                event.as_str(),
                id.as_str()
            )));
        }
    }
    let message_id = endpoint.manager().await?.drain(&id).await?;
    sent::show(
        output,
        &[Sent {
            command: "drain",
            endpoint: endpoint.name().to_owned(),
            event_id: None,
            session_id: Some(drain.session),
            message_id,
        }],
    )?;
    Ok(ExitCode::SUCCESS)
}

/// What the resolver knows of the event that blocks a session.
async fn blocking(
    resolver: Option<&ResolverStore>,
    endpoint: &str,
    session: &SessionOverview,
) -> Result<Option<EventRecord>, Failure> {
    let state = session.state.as_ref();
    let event = state.and_then(|state| state.blocked_by_event_id.clone());
    match (resolver, event) {
        (Some(resolver), Some(event)) => {
            let key = EventKey::new(endpoint, event);
            Ok(resolver.event(&key).await?)
        }
        _ => Ok(None),
    }
}

fn named(session: &str) -> Result<SessionId, Failure> {
    SessionId::new(session).ok_or_else(|| Failure::usage("a session has a name"))
}
