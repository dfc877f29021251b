//! The fallback for consumers without a configured endpoint (INB-04).

use std::fmt;
use std::sync::Arc;

use super::admission::warn_of_address;
use super::process::handled;
use super::tails::Tails;
use super::{Inbox, Processed};
use crate::boundary::Boundary;
use crate::telemetry::Instruments;
use crate::{EndpointId, Error, InboxOptions, InboxStore, UnusableId};

/// An inbox whose endpoint is the address (`To`) that each message carries.
///
/// Only for consumers that have no configured endpoint: two subscribers that receive messages
/// with the same address would skip each other's first deliveries, and a producer that puts the
/// event type there splits one endpoint into several. Prefer [`Inbox`].
///
/// Its metrics carry no endpoint, since addresses are not bounded.
pub struct AddressScopedInbox<S: InboxStore + ?Sized = dyn InboxStore> {
    boundary: Boundary<S>,
    options: Arc<InboxOptions>,
    tails: Tails,
}

impl<S: InboxStore> AddressScopedInbox<S> {
    /// An inbox that is scoped by the address of each message.
    #[must_use]
    pub fn new(store: S, options: InboxOptions) -> Self {
        let instruments = Instruments::new(options.meter(), store.provider(), None);
        Self {
            boundary: Boundary::new(
                Arc::new(store),
                options.store_timeout(),
                Arc::new(instruments),
            ),
            options: Arc::new(options),
            tails: Tails::default(),
        }
    }
}

impl<S: InboxStore + ?Sized> AddressScopedInbox<S> {
    /// The inbox of one address; for [cleanup](crate::CleanupTask), which is per endpoint.
    ///
    /// # Errors
    ///
    /// Why the address can't be an endpoint.
    pub fn scope(&self, to: &str) -> Result<Inbox<S>, UnusableId> {
        Ok(Inbox {
            endpoint: EndpointId::new(to)?,
            boundary: self.boundary.clone(),
            options: Arc::clone(&self.options),
            tails: self.tails.clone(),
        })
    }

    /// As [`Inbox::process`], for a message addressed to `to`. An unusable address runs the
    /// handler without the inbox, as an unusable id does.
    ///
    /// # Errors
    ///
    /// As [`Inbox::process`].
    ///
    /// # Panics
    ///
    /// As [`Inbox::process`].
    ///
    /// # Cancel safety
    ///
    /// As [`Inbox::process`].
    pub async fn process<T, E, F>(&self, to: &str, id: &str, handler: F) -> Result<Processed<T>, E>
    where
        F: AsyncFnOnce() -> Result<T, E>,
        E: From<Error>,
    {
        match self.scope(to) {
            Ok(inbox) => inbox.process(id, handler).await,
            Err(reason) => {
                self.boundary.instruments().bypass(reason);
                warn_of_address(reason);
                Ok(handled(handler().await?, None))
            }
        }
    }

    /// As [`Inbox::drained`].
    ///
    /// # Cancel safety
    ///
    /// It only waits; dropping it stops nothing.
    pub async fn drained(&self) {
        self.tails.drained().await;
    }
}

impl<S: InboxStore + ?Sized> fmt::Debug for AddressScopedInbox<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressScopedInbox")
            .field("provider", &self.boundary.store().provider())
            .finish_non_exhaustive()
    }
}
