//! The inbox of one endpoint.

mod address_scope;
mod admission;
mod checking;
mod completion;
mod process;
mod routing;
mod tails;
mod transaction;

use std::fmt;
use std::sync::Arc;

pub use address_scope::AddressScopedInbox;
pub use admission::Admission;
pub use completion::CompletionKeys;
pub use process::{Handled, Processed};
pub use routing::Routing;
pub use transaction::{Claim, DuplicateWhen};

use crate::boundary::Boundary;
use crate::inbox::tails::Tails;
use crate::telemetry::Instruments;
use crate::{EndpointId, Error, InboxOptions, InboxStore, Operation};

/// Recognises deliveries whose work already succeeded on one endpoint.
///
/// [`process`](Self::process) is all that a consumer of its own needs. The other methods are its
/// parts, for a runtime that settles messages itself.
///
/// Cloning is cheap: clones share the store and what is still being recorded. `Inbox` without a
/// parameter holds any store; [`erase`](Self::erase) leads there.
///
/// Recording spawns a task, so an inbox is used inside a tokio runtime with its timer enabled.
pub struct Inbox<S: InboxStore + ?Sized = dyn InboxStore> {
    endpoint: EndpointId,
    boundary: Boundary<S>,
    options: Arc<InboxOptions>,
    tails: Tails,
}

impl<S: InboxStore> Inbox<S> {
    /// An inbox with default options for the subscriber that is configured as `endpoint`.
    ///
    /// # Errors
    ///
    /// A configuration error when the endpoint is missing, blank, or longer than 260 UTF-16 code
    /// units: with it no message could ever be deduplicated, which a setting must not cause
    /// silently. Where the endpoint comes from the messages, use [`AddressScopedInbox`].
    pub fn new(endpoint: impl AsRef<str>, store: S) -> Result<Self, Error> {
        Self::with_options(endpoint, store, InboxOptions::default())
    }

    /// As [`new`](Self::new), with options.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_options(
        endpoint: impl AsRef<str>,
        store: S,
        options: InboxOptions,
    ) -> Result<Self, Error> {
        Self::from_arc(endpoint, Arc::new(store), options)
    }

    /// The same inbox with the type of its store forgotten.
    #[must_use]
    pub fn erase(self) -> Inbox {
        Inbox {
            endpoint: self.endpoint,
            boundary: self.boundary.erase(),
            options: self.options,
            tails: self.tails,
        }
    }
}

impl<S: InboxStore + ?Sized> Inbox<S> {
    /// An inbox on a store that others hold as well.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn from_arc(
        endpoint: impl AsRef<str>,
        store: Arc<S>,
        options: InboxOptions,
    ) -> Result<Self, Error> {
        let endpoint = EndpointId::new(endpoint).map_err(|reason| {
            Error::configuration(
                Operation::Configure,
                format!(
                    "the endpoint of the inbox is {reason}; set the configured name of the \
                     subscriber, 1 to {} UTF-16 code units",
                    EndpointId::MAX_UTF16_UNITS
                ),
            )
        })?;
        let instruments = Instruments::new(options.meter(), store.provider(), Some(&endpoint));
        let boundary = Boundary::new(store, options.store_timeout(), Arc::new(instruments));
        Ok(Self {
            endpoint,
            boundary,
            options: Arc::new(options),
            tails: Tails::default(),
        })
    }

    /// The endpoint half of every key of this inbox.
    #[must_use]
    pub fn endpoint(&self) -> &EndpointId {
        &self.endpoint
    }

    /// The store, for tools and tests. Calls made on it directly are not bounded, measured or
    /// cleared of secrets.
    #[must_use]
    pub fn store(&self) -> &Arc<S> {
        self.boundary.store()
    }

    /// The options this inbox was built with.
    #[must_use]
    pub fn options(&self) -> &InboxOptions {
        &self.options
    }

    /// Makes sure before the first message that the store is reachable, has its schema, and keeps
    /// what it promises (INB-32).
    ///
    /// # Errors
    ///
    /// The store's reason, without secrets; a configuration error when waiting can't help.
    ///
    /// # Cancel safety
    ///
    /// It can be dropped and called again.
    pub async fn verify(&self) -> Result<(), Error> {
        self.boundary.verify().await
    }

    /// Waits until nothing is being recorded any more (INB-14).
    ///
    /// A record that has begun survives the future that waited for it, but not the runtime: call
    /// this after the last message was handed in and before the runtime ends. It waits at most
    /// for one [store timeout](InboxOptions::store_timeout).
    ///
    /// # Cancel safety
    ///
    /// It only waits; dropping it stops nothing.
    pub async fn drained(&self) {
        self.tails.drained().await;
    }

    pub(crate) fn boundary(&self) -> &Boundary<S> {
        &self.boundary
    }
}

impl<S: InboxStore + ?Sized> Clone for Inbox<S> {
    fn clone(&self) -> Self {
        Self {
            endpoint: self.endpoint.clone(),
            boundary: self.boundary.clone(),
            options: Arc::clone(&self.options),
            tails: self.tails.clone(),
        }
    }
}

impl<S: InboxStore + ?Sized> fmt::Debug for Inbox<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The store's own Debug is a provider's text.
        f.debug_struct("Inbox")
            .field("endpoint", &self.endpoint)
            .field("provider", &self.store().provider())
            .finish_non_exhaustive()
    }
}
