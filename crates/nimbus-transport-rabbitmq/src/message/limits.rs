use nimbus_messaging::{Envelope, PropertyValue, TransportError};

use super::headers;
use crate::error::invalid;
use crate::options::RabbitMqOptions;

/// All headers travel in one frame, of 128 KiB unless the broker is set otherwise; a reason for
/// dead-lettering must still fit.
const LARGEST_HEADERS: usize = 64 * 1024;

/// The longest name of a header.
const LONGEST_NAME: usize = 255;

/// How large a message may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    bytes: usize,
    properties: usize,
}

impl Limits {
    pub(crate) fn of(options: &RabbitMqOptions) -> Self {
        Self {
            bytes: options.message_size_limit,
            properties: options.property_limit,
        }
    }

    /// # Errors
    ///
    /// `InvalidInput` when the message can't be sent as it is.
    pub(crate) fn admit(self, envelope: &Envelope) -> Result<(), TransportError> {
        let refused = |reason: String| {
            Err(invalid(format!(
                "message {:?} {reason}; nothing of the batch was sent",
                envelope.message_id
            )))
        };
        let count = envelope.properties.len();
        if count > self.properties {
            let most = self.properties;
            return refused(format!("has {count} properties, and {most} are allowed"));
        }
        let size = envelope.body.len();
        if size > self.bytes {
            let most = self.bytes;
            return refused(format!(
                "has a body of {size} bytes, and {most} are allowed; keep large data elsewhere \
                 and send a reference"
            ));
        }
        let names = envelope.properties.iter().map(|(name, _)| name);
        for name in names {
            if headers::is_reserved(name) {
                return refused(format!("has a property {name:?}, a name that is reserved"));
            }
            if name.len() > LONGEST_NAME {
                return refused("has a property whose name is longer than 255 bytes".to_owned());
            }
        }
        let size = header_bytes(envelope);
        if size > LARGEST_HEADERS {
            return refused(format!(
                "has fields and properties of {size} bytes, and {LARGEST_HEADERS} are allowed"
            ));
        }
        Ok(())
    }
}

fn header_bytes(envelope: &Envelope) -> usize {
    let fields = [
        &envelope.message_id,
        &envelope.session_id,
        &envelope.correlation_id,
        &envelope.reply_to,
        &envelope.reply_to_session_id,
        &envelope.content_type,
    ];
    let fields = fields.into_iter().flatten().map(String::len);
    let properties = envelope.properties.iter().map(|(name, value)| {
        let value = match value {
            PropertyValue::Text(text) => text.len(),
            _ => 32,
        };
        name.len() + value + 8
    });
    fields.chain(properties).sum()
}
