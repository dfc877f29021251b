use nimbus_messaging::{Envelope, TransportError, TransportErrorKind, property};
use nimbus_sqlite::rusqlite::{self, Connection};

use super::topics::{self, EventFilter};
use super::{QueueId, queues};

/// Where messages to one address go.
#[derive(Debug)]
pub(crate) enum Route {
    Queue(QueueId),
    Topic(Vec<(QueueId, EventFilter)>),
}

/// Nothing would receive a message.
#[derive(Debug)]
pub(crate) enum Unroutable {
    /// Nobody declared the address; these are declared.
    Unknown(Vec<String>),
    /// The topic has no subscription that takes events of that type.
    NobodySubscribed(Option<String>),
}

/// Looks the address up.
pub(crate) fn resolve(db: &Connection, name: &str) -> rusqlite::Result<Result<Route, Unroutable>> {
    if let Some(queue) = queues::find(db, name)? {
        return Ok(Ok(Route::Queue(queue)));
    }
    match topics::find(db, name)? {
        Some(topic) => Ok(Ok(Route::Topic(topics::subscriptions(db, topic)?))),
        None => Ok(Err(Unroutable::Unknown(queues::names(db)?))),
    }
}

impl Route {
    /// The queues that get a copy of `envelope`, at least one.
    pub(crate) fn queues(&self, envelope: &Envelope) -> Result<Vec<QueueId>, Unroutable> {
        let subscriptions = match self {
            Self::Queue(queue) => return Ok(vec![*queue]),
            Self::Topic(subscriptions) => subscriptions,
        };
        let event_type = envelope.properties.text(property::EVENT_TYPE_ID);
        let queues: Vec<_> = subscriptions
            .iter()
            .filter(|(_, filter)| filter.admits(event_type.as_deref()))
            .map(|(queue, _)| *queue)
            .collect();
        if queues.is_empty() {
            return Err(Unroutable::NobodySubscribed(
                event_type.map(std::borrow::Cow::into_owned),
            ));
        }
        Ok(queues)
    }
}

impl Unroutable {
    pub(crate) fn into_error(self, address: &str) -> TransportError {
        let context = match self {
            Self::Unknown(declared) => format!(
                "no queue or topic {address:?} is declared in the embedded queue, and nothing was \
                 sent; declared are {}; start the endpoint's subscriber once, or declare it",
                declared.join(", ")
            ),
            Self::NobodySubscribed(event_type) => format!(
                "no endpoint subscribes to events of type {event_type:?} on the topic {address:?}, \
                 and nothing was sent; subscribe an endpoint to them"
            ),
        };
        TransportError::new(TransportErrorKind::Unroutable, context)
    }
}
