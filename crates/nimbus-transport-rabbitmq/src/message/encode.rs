use bytes::Bytes;
use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable, LongString, ShortString};
use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Envelope, PropertyValue, property};

use super::headers;

const PERSISTENT: u8 = 2;
const TICKS_PER_SECOND: i64 = 10_000_000;

/// A message ready to be published.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    pub(crate) exchange: ShortString,
    pub(crate) routing_key: ShortString,
    pub(crate) properties: BasicProperties,
    pub(crate) body: Bytes,
}

/// AMQP's fields and headers for a message, sent at one instant and due at another, if any.
pub(crate) fn encode(
    envelope: &Envelope,
    sent: Timestamp,
    due: Option<Timestamp>,
) -> BasicProperties {
    let mut table = FieldTable::default();
    for (name, value) in envelope.properties.iter() {
        table.insert(name.into(), encode_value(value));
    }
    let mut properties = BasicProperties::default().with_delivery_mode(PERSISTENT);
    let mut field = |value: &Option<String>, long: &str| -> Option<ShortString> {
        let value = value.as_ref()?;
        let short = ShortString::try_new(value.as_str()).ok();
        if short.is_none() {
            table.insert(long.into(), text(value));
        }
        short
    };
    if let Some(id) = field(&envelope.message_id, headers::MESSAGE_ID) {
        properties = properties.with_message_id(id);
    }
    if let Some(id) = field(&envelope.correlation_id, headers::CORRELATION_ID) {
        properties = properties.with_correlation_id(id);
    }
    if let Some(address) = field(&envelope.reply_to, headers::REPLY_TO) {
        properties = properties.with_reply_to(address);
    }
    if let Some(media_type) = field(&envelope.content_type, headers::CONTENT_TYPE) {
        properties = properties.with_content_type(media_type);
    }
    if let Some(session) = &envelope.session_id {
        table.insert(headers::SESSION.into(), text(session));
    }
    if let Some(session) = &envelope.reply_to_session_id {
        table.insert(headers::REPLY_TO_SESSION.into(), text(session));
    }
    // A scheduled message waits in the queue only from when it is due.
    let enqueued = due.map_or(sent, |due| due.max(sent)).unix_ticks();
    table.insert(headers::SENT.into(), AMQPValue::LongLongInt(enqueued));
    if let Some(due) = due {
        let due = AMQPValue::LongLongInt(due.unix_ticks());
        table.insert(headers::DUE.into(), due);
    }
    if let Ok(seconds) = u64::try_from(sent.unix_ticks() / TICKS_PER_SECOND) {
        properties = properties.with_timestamp(seconds);
    }
    properties.with_headers(table)
}

/// The same message once more, without what the broker noted on it.
pub(crate) fn encode_again(properties: &BasicProperties) -> BasicProperties {
    let mut table = FieldTable::default();
    for (name, value) in properties.headers().as_ref().into_iter().flatten() {
        if !headers::is_brokers(name.as_str()) {
            table.insert(name.clone(), value.clone());
        }
    }
    let again = properties.clone().with_headers(table);
    again.with_delivery_mode(PERSISTENT)
}

/// The message, saying why it was set aside.
pub(crate) fn with_reason(
    properties: &BasicProperties,
    reason: &str,
    description: &str,
) -> BasicProperties {
    let again = encode_again(properties);
    let mut table = again.headers().clone().unwrap_or_default();
    table.insert(property::DEAD_LETTER_REASON.into(), text(reason));
    table.insert(
        property::DEAD_LETTER_ERROR_DESCRIPTION.into(),
        text(description),
    );
    again.with_headers(table)
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(LongString::from(value.as_bytes()))
}

fn encode_value(value: &PropertyValue) -> AMQPValue {
    match value {
        PropertyValue::Text(value) => text(value),
        PropertyValue::Integer(number) => AMQPValue::LongLongInt(*number),
        PropertyValue::Float(number) => AMQPValue::Double(*number),
        PropertyValue::Boolean(value) => AMQPValue::Boolean(*value),
        PropertyValue::Instant(ticks) => {
            let whole = ticks % TICKS_PER_SECOND == 0;
            match u64::try_from(ticks / TICKS_PER_SECOND) {
                Ok(seconds) if whole && *ticks >= 0 => AMQPValue::Timestamp(seconds),
                _ => {
                    let mut table = FieldTable::default();
                    table.insert(headers::TICKS.into(), AMQPValue::LongLongInt(*ticks));
                    AMQPValue::FieldTable(table)
                }
            }
        }
    }
}
