//! The event that a command settles, with or without a resolver.

use clap::Args;
use nimbus_messaging::{EventId, EventReference, MessageType, SessionId};
use nimbus_resolver::{EventRecord, EventState, ResolverStore};

use crate::commands::sent::{self, Sent};
use crate::failure::Failure;
use crate::find;
use crate::place::{Endpoint, Place};

/// Which event is meant.
#[derive(Args)]
pub(crate) struct TargetArguments {
    /// Its event id.
    #[arg(value_name = "EVENT-ID")]
    id: String,

    /// Its session, for an event that the resolver doesn't know.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// An event that is to be settled.
pub(crate) struct Target<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) reference: EventReference,
    id: String,
    session: Option<String>,
    known: Option<(ResolverStore, EventRecord)>,
}

impl<'a> Target<'a> {
    pub(crate) async fn find(place: &'a Place, named: &TargetArguments) -> Result<Self, Failure> {
        match &named.session {
            None => Self::known(find::event(place, &named.id).await?),
            Some(session) => {
                let endpoint = place.only()?;
                let known = match endpoint.resolver_if_any().await? {
                    None => None,
                    Some(store) => {
                        let mut events = store.find(Some(endpoint.name()), &named.id).await?;
                        events.pop().map(|event| (store, event))
                    }
                };
                Ok(Self {
                    endpoint,
                    reference: EventReference::new(session, named.id.as_str()),
                    id: named.id.clone(),
                    session: Some(session.clone()),
                    known,
                })
            }
        }
    }

    fn known(found: find::Found<'a>) -> Result<Self, Failure> {
        let find::Found {
            endpoint,
            store,
            event,
        } = found;
        Ok(Self {
            endpoint,
            reference: find::reference(&event)?,
            id: event.key.subject.as_str().to_owned(),
            session: event.identity.session_id.clone(),
            known: Some((store, event)),
        })
    }

    /// What the resolver knows.
    pub(crate) fn state(&self) -> Option<EventState> {
        self.known.as_ref().map(|(_, event)| event.state)
    }

    /// Whether its session waits for a job of it; `None` where the session can't be seen.
    pub(crate) async fn waits_for_job(&self) -> Result<Option<bool>, Failure> {
        let session = self.session.as_deref().and_then(SessionId::new);
        let (Some(session), Ok(directory)) = (session, self.endpoint.sessions().await) else {
            return Ok(None);
        };
        let state = directory.look(&session).await?.state;
        Ok(state.map(|state| {
            state.blocked_by_handoff
                && state.blocked_by_event_id == Some(EventId::from(self.id.as_str()))
        }))
    }

    pub(crate) fn name(&self) -> String {
        format!("event {:?} of {}", self.id, self.endpoint.name())
    }

    pub(crate) fn described(&self) -> String {
        let state = self.state().map(|state| format!(", which is {state},"));
        format!("{}{}", self.name(), state.unwrap_or_default())
    }

    /// Notes the command in the event's history, where there is one.
    pub(crate) async fn note(&self, command: MessageType, message_id: &str) {
        if let Some((store, event)) = &self.known {
            sent::note(store, &event.key, command, message_id).await;
        }
    }

    pub(crate) fn sent(&self, message_id: String) -> Sent {
        Sent {
            command: "",
            endpoint: self.endpoint.name().to_owned(),
            event_id: Some(self.id.clone()),
            session_id: self.session.clone(),
            message_id,
        }
    }
}
