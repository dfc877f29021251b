//! The embedded queue between publisher and consumer, and the inbox beside it.

mod publisher;

use std::path::Path;
use std::time::Duration;

use nimbus_messaging::TransportError;
use nimbus_transport_embedded::{EmbeddedOptions, EmbeddedTransport};

pub(crate) use publisher::Publisher;

/// The endpoint of the demo's subscriber.
pub(crate) const ENDPOINT: &str = "BillingEndpoint";

/// How long the sessions of a killed consumer stay locked. Long enough that a slow machine renews
/// in time, short enough that nobody waits for it.
const LOCK: Duration = Duration::from_secs(2);

/// Opens the queue as both processes do.
pub(crate) async fn open(directory: &Path) -> Result<EmbeddedTransport, TransportError> {
    let options = EmbeddedOptions::default().with_lock_duration(LOCK);
    let queue = EmbeddedTransport::open_with(directory.join("queue.db"), options).await?;
    queue.declare(ENDPOINT).await?;
    Ok(queue)
}
