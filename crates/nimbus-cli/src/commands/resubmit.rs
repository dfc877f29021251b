use std::process::ExitCode;

use clap::Args;
use nimbus_messaging::{ManagerClient, MessageType};
use nimbus_resolver::{EventRecord, EventState, ResolverStore};

use super::filter::FilterArguments;
use super::sent::{self, Sent};
use crate::failure::Failure;
use crate::find;
use crate::output::{EventView, Output};
use crate::place::{Endpoint, Place};

/// Have events handled once more.
///
/// What is sent is the event that the resolver kept, as a message of its own with a fresh id. If the
/// event blocks its session, success ends the block and what waits behind it follows. What came of
/// it is in `nimbus events show`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The events.
    #[arg(value_name = "EVENT-ID", required_unless_present = "all")]
    ids: Vec<String>,

    /// Every event that the filters below pick; failed ones unless --state says otherwise.
    #[arg(long, conflicts_with = "ids")]
    all: bool,

    #[command(flatten)]
    filter: FilterArguments,

    /// Also events that are done, parked, on their way or at an external job, whose work may then be
    /// done twice.
    #[arg(long)]
    force: bool,

    /// Only show which events would be resubmitted.
    #[arg(long)]
    dry_run: bool,
}

/// How many events one look at the resolver gives.
const PAGE: u32 = 200;

pub(crate) async fn run(
    place: &Place,
    output: Output,
    arguments: Arguments,
) -> Result<ExitCode, Failure> {
    if !arguments.all && arguments.filter.narrows() {
        return Err(Failure::usage(
            "filters pick among all events: say --all, or name the events and no filter",
        ));
    }
    let mut chosen: Vec<(&Endpoint, ResolverStore, EventRecord)> = Vec::new();
    if arguments.all {
        chosen = all(place, arguments.filter).await?;
    } else {
        for id in &arguments.ids {
            let found = find::event(place, id).await?;
            // None is sent unless all can be.
            check(&found.event, arguments.force)?;
            // An event that is named twice is handled once more, not twice.
            if chosen
                .iter()
                .any(|(_, _, event)| event.key == found.event.key)
            {
                continue;
            }
            chosen.push((found.endpoint, found.store, found.event));
        }
    }
    if chosen.is_empty() {
        return Err(Failure::not_found("no event is to be resubmitted"));
    }
    if arguments.dry_run {
        let events: Vec<EventRecord> = chosen.into_iter().map(|(_, _, event)| event).collect();
        let views: Vec<EventView> = events.iter().map(EventView::from).collect();
        output.show(&views, || EventView::table(&events))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (mut done, mut refused) = (Vec::new(), None);
    for (endpoint, store, event) in &chosen {
        let manager = endpoint.manager().await?;
        match resubmit(&manager, endpoint, store, event, arguments.force).await {
            Ok(sent) => done.push(sent),
            Err(failure) => {
                eprintln!("error: {failure}");
                refused = Some(failure);
            }
        }
    }
    sent::show(output, &done)?;
    Ok(refused.map_or(ExitCode::SUCCESS, |failure| failure.exit_code()))
}

async fn all(
    place: &Place,
    mut filter: FilterArguments,
) -> Result<Vec<(&Endpoint, ResolverStore, EventRecord)>, Failure> {
    if filter.states.is_empty() {
        filter.states = vec![EventState::Failed];
    }
    let mut chosen = Vec::new();
    for endpoint in place.endpoints() {
        let store = endpoint.resolver().await?;
        let wanted = filter.clone().filter().with_endpoint(endpoint.name());
        let mut after = None;
        loop {
            let page = store.events(wanted.clone(), after, PAGE).await?;
            for event in page.events {
                chosen.push((endpoint, store.clone(), event));
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    // In the order in which they came to their state: what failed first goes first.
    chosen.sort_by_key(|(_, _, event)| event.state_since);
    Ok(chosen)
}

/// Why an event can't be resubmitted.
fn check(event: &EventRecord, force: bool) -> Result<(), Failure> {
    find::reference(event)?;
    let twice = match event.state {
        EventState::Completed => Some("is completed; its work would be done once more"),
        EventState::Deferred => Some(
            "is parked, and is handled when its turn comes; settle the event that blocks its \
             session instead",
        ),
        EventState::Pending => {
            Some("is on its way to its handler already; wait for what comes of it")
        }
        EventState::PendingHandoff => Some(
            "waits for its external job, which would be begun once more; say how the job ended \
             with `nimbus handoff` instead",
        ),
        _ => None,
    };
    if let Some(why) = twice.filter(|_| !force) {
        return Err(Failure::refused(format!(
            "{} {why}. If it is meant all the same, say --force",
            event.key
        )));
    }
    if !event.has_content {
        return Err(Failure::refused(format!(
            "{} can't be resubmitted: no report has brought the event itself, which is left out \
             where it is too large for the broker or can't be read. Publish it again instead",
            event.key
        )));
    }
    Ok(())
}

async fn resubmit(
    manager: &ManagerClient,
    endpoint: &Endpoint,
    store: &ResolverStore,
    event: &EventRecord,
    force: bool,
) -> Result<Sent, Failure> {
    check(event, force)?;
    let reference = find::reference(event)?;
    // A list leaves the content out.
    let kept = store.event(&event.key).await?;
    let content = kept.and_then(|event| event.content);
    let content = content
        .ok_or_else(|| Failure::not_found(format!("{} was purged in the meantime", event.key)))?;
    let message_id = manager.resubmit(&reference, content).await?;
    let command = MessageType::ResubmissionRequest;
    sent::note(store, &event.key, command, &message_id).await;
    Ok(Sent {
        command: "resubmission",
        endpoint: endpoint.name().to_owned(),
        event_id: event.key.event_id().map(|id| id.as_str().to_owned()),
        session_id: event.identity.session_id.clone(),
        message_id,
    })
}
