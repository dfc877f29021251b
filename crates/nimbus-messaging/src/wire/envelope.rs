use bytes::Bytes;

use super::Properties;

/// A message as a broker carries it.
///
/// Every identity field may be absent (SUB-05): a foreign publisher need not set any.
#[derive(Clone, Default, PartialEq)]
pub struct Envelope {
    /// The broker's message id.
    pub message_id: Option<String>,
    /// The session whose order the message keeps.
    pub session_id: Option<String>,
    /// Groups the messages of one conversation.
    pub correlation_id: Option<String>,
    /// Where an answer goes.
    pub reply_to: Option<String>,
    /// The session of an answer.
    pub reply_to_session_id: Option<String>,
    /// The body's media type.
    pub content_type: Option<String>,
    /// Application properties.
    pub properties: Properties,
    /// The body, opaque to transports.
    pub body: Bytes,
}

/// Shows metadata and the length of the body, never the payload (INB-09).
impl std::fmt::Debug for Envelope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Envelope")
            .field("message_id", &self.message_id)
            .field("session_id", &self.session_id)
            .field("correlation_id", &self.correlation_id)
            .field("reply_to", &self.reply_to)
            .field("reply_to_session_id", &self.reply_to_session_id)
            .field("content_type", &self.content_type)
            .field("properties", &self.properties)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}
