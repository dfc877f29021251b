//! The queue file, opened.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{
    Address, LaneSource, Sender, SessionDirectory, Transport, TransportCapabilities, TransportError,
};
use nimbus_sqlite::Database;

use crate::address::{self, EventFilter, QueueId};
use crate::error::{self, Doing};
use crate::inspect::{EmbeddedDirectory, Inspector};
use crate::lanes::EmbeddedLanes;
use crate::options::EmbeddedOptions;
use crate::schema;
use crate::send::EmbeddedSender;
use crate::shared::Shared;

/// A durable queue in one SQLite file, for the processes of one machine.
///
/// Cheap to clone; clones share one writer. When the last clone, sender and lane are gone, the
/// file is closed after what was queued is written.
#[derive(Debug, Clone)]
pub struct EmbeddedTransport {
    shared: Arc<Shared>,
}

impl EmbeddedTransport {
    /// Opens the file at `path` with default options, and makes it if it isn't there.
    ///
    /// The queues of the well-known receivers `Resolver` and `Manager` are declared from the start.
    ///
    /// # Errors
    ///
    /// As [`open_with`](Self::open_with).
    ///
    /// # Cancel safety
    ///
    /// As [`open_with`](Self::open_with).
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, TransportError> {
        Self::open_with(path, EmbeddedOptions::default()).await
    }

    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// A configuration error when the options can't work, the place can't be written, the file is
    /// not a SQLite database or is damaged, or tables are missing that may not be created; a
    /// transient one when other processes keep the file locked.
    ///
    /// # Cancel safety
    ///
    /// Dropping it may leave the file behind, with all tables or none.
    pub async fn open_with(
        path: impl AsRef<Path>,
        options: EmbeddedOptions,
    ) -> Result<Self, TransportError> {
        options.validate()?;
        let opening = |error| error::failed("opening", error);
        let db = Database::open(path, options.database.clone())
            .await
            .map_err(opening)?;
        if options.auto_create {
            db.ensure_schema(schema::schema()).await.map_err(opening)?;
        } else {
            db.verify_schema(schema::schema()).await.map_err(opening)?;
        }
        Ok(Self {
            shared: Arc::new(Shared::new(db, options)),
        })
    }

    /// Declares the queue of an endpoint or a well-known receiver; nothing happens when it is
    /// declared already. Names are compared without ASCII case, and keep their first spelling.
    ///
    /// # Errors
    ///
    /// A configuration error when the name is empty or that of a topic; else as the file's.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been declared or not.
    pub async fn declare(&self, address: impl Into<Address>) -> Result<(), TransportError> {
        self.queue(&address.into()).await.map(drop)
    }

    /// Declares a topic, whose messages go to the queues that [subscribe](Self::subscribe) to it.
    ///
    /// # Errors
    ///
    /// A configuration error when the name is empty or that of a queue; else as the file's.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been declared or not.
    pub async fn declare_topic(&self, topic: impl Into<Address>) -> Result<(), TransportError> {
        let topic = named(topic.into())?;
        let name = topic.as_str().to_owned();
        self.shared
            .write(Doing("declaring the topic", &topic), move |tx, _| {
                address::declare_topic(tx, &name)
            })
            .await?
            .map(drop)
            .ok_or_else(|| taken(&topic, "queue"))
    }

    /// Subscribes an endpoint to a topic, declaring both; replaces the filter of a subscription
    /// that it has already. A copy keeps the id of the message it is made from.
    ///
    /// # Errors
    ///
    /// A configuration error when a name is empty or that of the other kind; else as the file's.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have subscribed or not.
    pub async fn subscribe(
        &self,
        topic: impl Into<Address> + Send,
        endpoint: impl Into<Address> + Send,
        filter: impl Into<EventFilter> + Send,
    ) -> Result<(), TransportError> {
        let (topic, filter) = (named(topic.into())?, filter.into());
        let queue = self.queue(&endpoint.into()).await?;
        let name = topic.as_str().to_owned();
        self.shared
            .write(Doing("subscribing to", &topic), move |tx, _| {
                let Some(topic) = address::declare_topic(tx, &name)? else {
                    return Ok(None);
                };
                address::subscribe(tx, topic, queue, &filter).map(Some)
            })
            .await?
            .ok_or_else(|| taken(&topic, "queue"))
    }

    /// Looks into the queues, for tools and tests.
    #[must_use]
    pub fn inspector(&self) -> Inspector {
        Inspector::new(Arc::clone(&self.shared))
    }

    /// The queue of that name, declared if it isn't.
    async fn queue(&self, address: &Address) -> Result<QueueId, TransportError> {
        let address = named(address.clone())?;
        let name = address.as_str().to_owned();
        self.shared
            .write(Doing("declaring the queue", &address), move |tx, _| {
                address::declare(tx, &name)
            })
            .await?
            .ok_or_else(|| taken(&address, "topic"))
    }

    /// The queue that an endpoint receives from, declared where that is allowed.
    async fn queue_of(&self, endpoint: &EndpointId) -> Result<QueueId, TransportError> {
        let name = endpoint.as_str().to_owned();
        let known = self
            .shared
            .read(Doing("looking for the queue of", endpoint), move |tx| {
                Ok(match address::find(tx, &name)? {
                    Some(queue) => Ok(queue),
                    None => Err(address::names(tx)?),
                })
            })
            .await?;
        match known {
            Ok(queue) => Ok(queue),
            Err(_) if self.shared.options.auto_declare => {
                self.queue(&Address::new(endpoint.as_str())).await
            }
            Err(declared) => Err(TransportError::configuration(format!(
                "the queue of endpoint {endpoint:?} is not declared in {}, and may not be declared \
                 automatically; declared are {}",
                self.shared.db.path().display(),
                declared.join(", ")
            ))),
        }
    }
}

#[async_trait]
impl Transport for EmbeddedTransport {
    fn name(&self) -> &'static str {
        "embedded"
    }

    fn capabilities(&self) -> TransportCapabilities {
        TransportCapabilities {
            deferral: true,
            session_store: true,
            scheduled_send: true,
            cancel_scheduled: true,
            // Messages are kept until someone settles them.
            redelivery_horizon: None,
        }
    }

    async fn verify(&self, endpoint: &EndpointId) -> Result<(), TransportError> {
        self.queue_of(endpoint).await.map(drop)
    }

    async fn sender(&self, address: &Address) -> Result<Arc<dyn Sender>, TransportError> {
        Ok(Arc::new(EmbeddedSender::new(
            Arc::clone(&self.shared),
            address,
        )))
    }

    async fn lanes(&self, endpoint: &EndpointId) -> Result<Box<dyn LaneSource>, TransportError> {
        let queue = self.queue_of(endpoint).await?;
        Ok(Box::new(EmbeddedLanes::new(
            Arc::clone(&self.shared),
            queue,
            endpoint.as_str(),
        )))
    }

    async fn session_directory(
        &self,
        endpoint: &EndpointId,
    ) -> Result<Option<Arc<dyn SessionDirectory>>, TransportError> {
        let directory = EmbeddedDirectory::new(self.inspector(), endpoint.as_str());
        Ok(Some(Arc::new(directory)))
    }
}

fn named(address: Address) -> Result<Address, TransportError> {
    if address.as_str().is_empty() {
        return Err(TransportError::configuration(
            "a queue or topic of the embedded transport needs a name",
        ));
    }
    Ok(address)
}

fn taken(address: &Address, by: &str) -> TransportError {
    TransportError::configuration(format!(
        "{:?} is the name of a {by} already, and addresses are compared without case; choose \
         another name",
        address.as_str()
    ))
}
