use std::str::FromStr;

use clap::Args;
use nimbus_inbox_core::config::HumanDuration;
use nimbus_inbox_core::{Clock, SystemClock, Timestamp};
use nimbus_resolver::{EventFilter, EventState};

/// Which events are meant.
#[derive(Args, Clone)]
pub(crate) struct FilterArguments {
    /// Only in these states, separated by commas.
    #[arg(long = "state", value_name = "STATE", value_delimiter = ',', value_parser = state)]
    pub(crate) states: Vec<EventState>,

    /// Only of this type.
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,

    /// Only of this session.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,

    /// Only with this text in an id, the error or the event.
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,

    /// Only heard of since then: an instant such as 2026-01-31T12:00:00Z, or a time ago such as 2h.
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
}

/// An instant, given as such or as a time ago.
#[derive(Debug, Clone, Copy)]
struct Since(Timestamp);

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(ago) = text.parse::<HumanDuration>() {
            return Ok(Self(SystemClock.now().saturating_sub(ago.0)));
        }
        text.parse().map(Self).map_err(|_| {
            format!(
                "{text:?} is neither an instant such as 2026-01-31T12:00:00Z nor a time ago such \
                 as 2h or \"7 days\""
            )
        })
    }
}

fn state(name: &str) -> Result<EventState, String> {
    EventState::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = EventState::ALL.iter().map(|state| state.as_str()).collect();
        format!("the states are {}", known.join(", "))
    })
}

impl FilterArguments {
    /// `true` when it picks some events and not simply all.
    pub(crate) fn narrows(&self) -> bool {
        !self.states.is_empty()
            || self.event_type.is_some()
            || self.session.is_some()
            || self.text.is_some()
            || self.since.is_some()
    }

    pub(crate) fn filter(self) -> EventFilter {
        let mut filter = EventFilter::default().with_states(self.states);
        if let Some(event_type) = self.event_type {
            filter = filter.with_event_type(event_type);
        }
        if let Some(session) = self.session {
            filter = filter.with_session(session);
        }
        if let Some(text) = self.text {
            filter = filter.with_text(text);
        }
        if let Some(Since(since)) = self.since {
            filter = filter.with_since(since);
        }
        filter
    }
}
