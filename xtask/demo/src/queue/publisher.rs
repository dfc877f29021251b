use std::sync::Arc;

use nimbus_messaging::{Address, Envelope, EventRequest, Sender, Transport, TransportError};
use nimbus_transport_embedded::EmbeddedTransport;

use super::ENDPOINT;
use crate::events::Event;
use crate::plan::{Plan, Publication};

/// How many messages share a transaction.
const BATCH: usize = 50;

/// Sends the events of a plan.
pub(crate) struct Publisher(Arc<dyn Sender>);

impl Publisher {
    pub(crate) async fn new(queue: &EmbeddedTransport) -> Result<Self, TransportError> {
        queue.sender(&Address::from(ENDPOINT)).await.map(Self)
    }

    /// Sends in order; all of it is on the disk when this returns.
    pub(crate) async fn send(
        &self,
        plan: &Plan,
        publications: &[Publication],
    ) -> anyhow::Result<()> {
        for batch in publications.chunks(BATCH) {
            let messages: Vec<Envelope> = batch
                .iter()
                .map(|publication| message(publication, plan.event(publication)))
                .collect::<Result<_, _>>()?;
            self.0.send(messages).await?;
        }
        Ok(())
    }
}

fn message(publication: &Publication, event: &Event) -> serde_json::Result<Envelope> {
    let request = EventRequest::new(&event.event_type, &event.data)?
        .with_message_id(&event.message_id)
        // A repeat is the same event.
        .with_event_id(event.message_id.as_str())
        .with_headers(|headers| {
            headers.session_id.clone_from(&event.session);
            headers.correlation_id = Some(publication.name());
            if let Some(cloud) = &event.cloud {
                headers.cloud_event_id = Some(cloud.id.clone());
                headers.cloud_event_source = Some(cloud.source.clone());
                headers.cloud_event_type = Some(event.event_type.clone());
                headers.cloud_event_subject.clone_from(&cloud.subject);
            }
        });
    Ok(request.to(ENDPOINT))
}
