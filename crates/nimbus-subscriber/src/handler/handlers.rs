use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nimbus_messaging::{EventContent, UnreadableEvent};
use serde::de::DeserializeOwned;

use super::{HandlerContext, HandlerError};

/// A handler whose event type is erased: reading the event can fail before there is a future.
pub(crate) type BoxedHandler = Arc<
    dyn Fn(
            &EventContent,
            HandlerContext,
        ) -> Result<BoxFuture<'static, Result<(), HandlerError>>, UnreadableEvent>
        + Send
        + Sync,
>;

/// Erases the event type of a plain async function.
pub(crate) fn erase<Ev, F, Fut>(handler: F) -> BoxedHandler
where
    Ev: DeserializeOwned + Send + 'static,
    F: Fn(Ev, HandlerContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    Arc::new(move |content, context| {
        let event = content.event::<Ev>()?;
        Ok(handler(event, context).boxed())
    })
}

/// The handlers of a subscriber, by event type id.
#[derive(Clone, Default)]
pub(crate) struct Handlers(BTreeMap<String, BoxedHandler>);

impl Handlers {
    /// Adds a handler; `false` when the event type has one already.
    pub(crate) fn add(&mut self, event_type: &str, handler: BoxedHandler) -> bool {
        match self.0.entry(event_type.to_owned()) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(handler);
                true
            }
            std::collections::btree_map::Entry::Occupied(_) => false,
        }
    }

    pub(crate) fn get(&self, event_type: &str) -> Option<&BoxedHandler> {
        self.0.get(event_type)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
