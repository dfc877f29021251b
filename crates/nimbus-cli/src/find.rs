//! The event that a person means.

use nimbus_messaging::EventReference;
use nimbus_resolver::{EventRecord, ResolverStore};

use crate::failure::Failure;
use crate::place::{Endpoint, Place};

/// An event, and the endpoint that it is settled at.
pub(crate) struct Found<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) store: ResolverStore,
    pub(crate) event: EventRecord,
}

/// The event of that id at one of the endpoints.
pub(crate) async fn event<'a>(place: &'a Place, id: &str) -> Result<Found<'a>, Failure> {
    let mut found = Vec::new();
    for endpoint in place.endpoints() {
        let store = endpoint.resolver().await?;
        for event in store.find(Some(endpoint.name()), id).await? {
            found.push(Found {
                endpoint,
                store: store.clone(),
                event,
            });
        }
    }
    if found.len() > 1 {
        let endpoints: Vec<&str> = found.iter().map(|it| it.endpoint.name()).collect();
        return Err(Failure::usage(format!(
            "event {id:?} is known at several endpoints; choose one with --endpoint: {}",
            endpoints.join(", ")
        )));
    }
    found.pop().ok_or_else(|| unknown(id))
}

pub(crate) fn unknown(id: &str) -> Failure {
    Failure::not_found(format!(
        "the resolver has heard nothing of an event {id:?} at the configured endpoints; is the id \
         right, and does `nimbus resolver run` run?"
    ))
}

/// What a command about an event that has to have an id and a session names it by.
pub(crate) fn reference(event: &EventRecord) -> Result<EventReference, Failure> {
    event.reference().ok_or_else(|| {
        Failure::refused(format!(
            "{} has no event id, by which its endpoint would know it",
            event.key
        ))
    })
}
