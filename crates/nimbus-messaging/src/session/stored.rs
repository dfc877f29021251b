//! A parked copy as a session store keeps it: an envelope as JSON beside its body.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{ParkedCopy, ParkedRef};
use crate::wire::{Envelope, Properties, PropertyValue};

/// Everything but the body.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to_session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    properties: BTreeMap<String, Value>,
}

/// A property with its kind, so that it comes back as it went.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Value {
    Text(String),
    Integer(i64),
    /// In text, because JSON has no infinity and its parsers round.
    Float(String),
    Boolean(bool),
    Instant(i64),
}

impl ParkedCopy {
    /// Everything of its envelope but the body, as JSON, for stores that keep the two apart.
    #[must_use]
    pub fn envelope_json(&self) -> String {
        let envelope = &self.envelope;
        let fields = Fields {
            message_id: envelope.message_id.clone(),
            session_id: envelope.session_id.clone(),
            correlation_id: envelope.correlation_id.clone(),
            reply_to: envelope.reply_to.clone(),
            reply_to_session_id: envelope.reply_to_session_id.clone(),
            content_type: envelope.content_type.clone(),
            properties: envelope
                .properties
                .iter()
                .map(|(name, value)| (name.to_owned(), stored(value)))
                .collect(),
        };
        // Names are text and values are plain, so this can't fail; an empty text would be refused
        // when it is read.
        serde_json::to_string(&fields).unwrap_or_default()
    }

    /// The copy whose envelope was kept as [`envelope_json`](Self::envelope_json) beside its body.
    ///
    /// # Errors
    ///
    /// When the text is not such JSON.
    pub fn restored(
        reference: ParkedRef,
        envelope_json: &str,
        body: impl Into<Bytes>,
    ) -> Result<Self, serde_json::Error> {
        let fields: Fields = serde_json::from_str(envelope_json)?;
        let mut properties = Properties::default();
        for (name, value) in fields.properties {
            properties.set(name, restored(value)?);
        }
        let envelope = Envelope {
            message_id: fields.message_id,
            session_id: fields.session_id,
            correlation_id: fields.correlation_id,
            reply_to: fields.reply_to,
            reply_to_session_id: fields.reply_to_session_id,
            content_type: fields.content_type,
            properties,
            body: body.into(),
        };
        Ok(Self {
            reference,
            envelope,
        })
    }
}

fn stored(value: &PropertyValue) -> Value {
    match value {
        PropertyValue::Text(text) => Value::Text(text.clone()),
        PropertyValue::Integer(number) => Value::Integer(*number),
        // The shortest text that reads back to the same number.
        PropertyValue::Float(number) => Value::Float(number.to_string()),
        PropertyValue::Boolean(value) => Value::Boolean(*value),
        PropertyValue::Instant(ticks) => Value::Instant(*ticks),
    }
}

fn restored(value: Value) -> Result<PropertyValue, serde_json::Error> {
    Ok(match value {
        Value::Text(text) => PropertyValue::Text(text),
        Value::Integer(number) => PropertyValue::Integer(number),
        Value::Float(text) => PropertyValue::Float(text.parse().map_err(serde::de::Error::custom)?),
        Value::Boolean(value) => PropertyValue::Boolean(value),
        Value::Instant(ticks) => PropertyValue::Instant(ticks),
    })
}
