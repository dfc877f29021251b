//! The inbox as a layer around a service that handles messages (INB-39).

use std::task::{Context, Poll};
use std::{fmt, mem};

use tower_layer::Layer;
use tower_service::Service;

use crate::{BoxFuture, Error, Inbox, InboxStore, Processed};

/// Wraps a service so that a message which already succeeded does not reach it.
///
/// `K` finds the message id in a request: `Fn(&Request) -> Option<&str>`.
pub struct InboxLayer<K, S: InboxStore + ?Sized = dyn InboxStore> {
    inbox: Inbox<S>,
    message_id: K,
}

impl<K, S: InboxStore + ?Sized> InboxLayer<K, S> {
    /// A layer on `inbox` that takes the message id of a request with `message_id`.
    #[must_use]
    pub fn new<Request>(inbox: Inbox<S>, message_id: K) -> Self
    where
        K: Fn(&Request) -> Option<&str>,
    {
        Self { inbox, message_id }
    }
}

impl<I, K: Clone, S: InboxStore + ?Sized> Layer<I> for InboxLayer<K, S> {
    type Service = InboxService<I, K, S>;

    fn layer(&self, inner: I) -> Self::Service {
        InboxService {
            inner,
            inbox: self.inbox.clone(),
            message_id: self.message_id.clone(),
        }
    }
}

/// The service that [`InboxLayer`] makes: [`Inbox::process`] around another service.
///
/// Its response says whether the service ran. Its errors are the service's own, and the inbox's
/// converted into them; after either, abandon the message for redelivery. Dropping a response
/// future is as safe as dropping [`Inbox::process`].
pub struct InboxService<I, K, S: InboxStore + ?Sized = dyn InboxStore> {
    inner: I,
    inbox: Inbox<S>,
    message_id: K,
}

impl<I, K, S, Request> Service<Request> for InboxService<I, K, S>
where
    I: Service<Request> + Clone + Send + 'static,
    I::Response: Send,
    I::Error: From<Error> + Send,
    I::Future: Send,
    K: Fn(&Request) -> Option<&str>,
    S: InboxStore + ?Sized,
    Request: Send + 'static,
{
    type Response = Processed<I::Response>;
    type Error = I::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // The service that was polled ready takes the call; its clone may not be ready.
        let next = self.inner.clone();
        let mut ready = mem::replace(&mut self.inner, next);
        let id = (self.message_id)(&request).unwrap_or_default().to_owned();
        let inbox = self.inbox.clone();
        Box::pin(async move {
            let handler = async move || ready.call(request).await;
            inbox.process(&id, handler).await
        })
    }
}

// Derived, these would ask the store to be `Clone`.

impl<K: Clone, S: InboxStore + ?Sized> Clone for InboxLayer<K, S> {
    fn clone(&self) -> Self {
        Self {
            inbox: self.inbox.clone(),
            message_id: self.message_id.clone(),
        }
    }
}

impl<I: Clone, K: Clone, S: InboxStore + ?Sized> Clone for InboxService<I, K, S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            inbox: self.inbox.clone(),
            message_id: self.message_id.clone(),
        }
    }
}

impl<K, S: InboxStore + ?Sized> fmt::Debug for InboxLayer<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboxLayer")
            .field("inbox", &self.inbox)
            .finish_non_exhaustive()
    }
}

impl<I: fmt::Debug, K, S: InboxStore + ?Sized> fmt::Debug for InboxService<I, K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboxService")
            .field("inner", &self.inner)
            .field("inbox", &self.inbox)
            .finish_non_exhaustive()
    }
}
