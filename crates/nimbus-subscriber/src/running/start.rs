use std::sync::Arc;

use nimbus_inbox_core::Inbox;
use nimbus_messaging::{Address, LaneSource, Sender};

use super::Settings;
use crate::error::SubscriberError;

/// What startup found in order (INB-32).
pub(super) struct Started {
    pub(super) inbox: Option<Inbox>,
    pub(super) resolver: Arc<dyn Sender>,
    pub(super) own_queue: Arc<dyn Sender>,
    pub(super) lanes: Box<dyn LaneSource>,
}

/// Verifies store and transport before the first message is received.
pub(super) async fn start(settings: &mut Settings) -> Result<Started, SubscriberError> {
    let endpoint = settings.endpoint.clone();
    let inbox = match settings.inbox.take() {
        None => None,
        Some(setup) => {
            let inbox = setup
                .open(endpoint.as_str())
                .await
                .map_err(|error| SubscriberError::inbox(&endpoint, error))?;
            inbox
                .verify()
                .await
                .map_err(|error| SubscriberError::inbox(&endpoint, error))?;
            Some(inbox)
        }
    };
    let transport = &settings.transport;
    let failed = |error| SubscriberError::transport(&endpoint, error);
    transport.verify(&endpoint).await.map_err(failed)?;
    let resolver = transport.sender(&Address::RESOLVER).await.map_err(failed)?;
    let own_address = Address::new(endpoint.as_str());
    let own_queue = transport.sender(&own_address).await.map_err(failed)?;
    let lanes = transport.lanes(&endpoint).await.map_err(failed)?;
    if let Some(inbox) = &inbox {
        warn_of_short_retention(settings, inbox);
    }
    Ok(Started {
        inbox,
        resolver,
        own_queue,
        lanes,
    })
}

/// A record that expires before the broker's last redelivery lets the message run again.
fn warn_of_short_retention(settings: &Settings, inbox: &Inbox) {
    let retention = inbox.options().retention_period();
    let Some(horizon) = settings.transport.capabilities().redelivery_horizon else {
        return;
    };
    if retention < horizon {
        tracing::warn!(
            endpoint = %settings.endpoint,
            ?retention,
            ?horizon,
            "the inbox forgets messages sooner than the broker may deliver them again: such a \
             message runs twice; raise the retention above the horizon"
        );
    }
}
