use nimbus_messaging::{Envelope, TransportError};

use super::StoredEnvelope;
use crate::error::invalid;
use crate::options::EmbeddedOptions;

/// How large a message may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    bytes: usize,
    properties: usize,
}

impl Limits {
    pub(crate) fn of(options: &EmbeddedOptions) -> Self {
        Self {
            bytes: options.message_size_limit,
            properties: options.property_limit,
        }
    }

    /// Makes a message ready to be stored.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when it is larger than allowed.
    pub(crate) fn admit(self, envelope: Envelope) -> Result<StoredEnvelope, TransportError> {
        let count = envelope.properties.len();
        if count > self.properties {
            return Err(invalid(format!(
                "message {:?} has {count} application properties and the embedded queue takes {} \
                 at most; nothing of the batch was sent",
                envelope.message_id, self.properties
            )));
        }
        let stored = StoredEnvelope::new(envelope);
        let size = stored.size();
        if size > self.bytes {
            return Err(invalid(format!(
                "message {:?} has {size} bytes and the embedded queue takes {} at most; nothing of \
                 the batch was sent; keep large data elsewhere and send a reference",
                stored.envelope().message_id,
                self.bytes
            )));
        }
        Ok(stored)
    }
}
