use bytes::Bytes;
use lapin::BasicProperties;
use lapin::message::Delivery;
use lapin::types::{AMQPValue, FieldTable, ShortString};
use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Envelope, Properties, PropertyValue};

use super::headers;

const TICKS_PER_SECOND: i64 = 10_000_000;

/// A message as it came, and what this transport reads of it.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) envelope: Envelope,
    pub(crate) delivery_count: u32,
    pub(crate) sent: Option<Timestamp>,
    pub(crate) due: Option<Timestamp>,
    pub(crate) delivery_tag: u64,
    pub(crate) original: BasicProperties,
}

/// Reads whatever came; a header of a kind that has no counterpart is left out.
pub(crate) fn decode(delivery: Delivery) -> Incoming {
    let original = delivery.properties;
    let table = original.headers().as_ref();
    let header = |name: &str| table.and_then(|table| table.inner().get(name));
    let ticks = |name: &str| {
        let ticks = header(name).and_then(whole_number);
        ticks.map(Timestamp::from_unix_ticks)
    };
    let field = |short: &Option<ShortString>, long: &str| {
        let short = short.as_ref().map(|value| value.as_str().to_owned());
        short.or_else(|| header(long).and_then(text))
    };
    let seconds = original.timestamp().and_then(|seconds| {
        let ticks = i64::try_from(seconds).ok()?.checked_mul(TICKS_PER_SECOND)?;
        Some(Timestamp::from_unix_ticks(ticks))
    });
    let before = header(headers::DELIVERY_COUNT).and_then(whole_number);
    let before = before.and_then(|count| u32::try_from(count).ok());
    Incoming {
        envelope: Envelope {
            message_id: field(original.message_id(), headers::MESSAGE_ID),
            session_id: header(headers::SESSION).and_then(text),
            correlation_id: field(original.correlation_id(), headers::CORRELATION_ID),
            reply_to: field(original.reply_to(), headers::REPLY_TO),
            reply_to_session_id: header(headers::REPLY_TO_SESSION).and_then(text),
            content_type: field(original.content_type(), headers::CONTENT_TYPE),
            properties: table.map(properties).unwrap_or_default(),
            body: Bytes::from(delivery.data),
        },
        // The broker notes nothing on the first delivery.
        delivery_count: before.unwrap_or(0).saturating_add(1),
        sent: ticks(headers::SENT).or(seconds),
        due: ticks(headers::DUE),
        delivery_tag: delivery.delivery_tag,
        original,
    }
}

fn properties(table: &FieldTable) -> Properties {
    let mut properties = Properties::default();
    for (name, value) in table {
        if headers::is_reserved(name.as_str()) {
            continue;
        }
        if let Some(value) = decode_value(value) {
            properties.set(name.as_str(), value);
        }
    }
    properties
}

fn decode_value(value: &AMQPValue) -> Option<PropertyValue> {
    Some(match value {
        AMQPValue::Boolean(value) => PropertyValue::Boolean(*value),
        AMQPValue::Float(number) => PropertyValue::Float(f64::from(*number)),
        AMQPValue::Double(number) => PropertyValue::Float(*number),
        AMQPValue::Timestamp(seconds) => {
            let seconds = i64::try_from(*seconds).ok()?;
            PropertyValue::Instant(seconds.checked_mul(TICKS_PER_SECOND)?)
        }
        AMQPValue::FieldTable(table) => {
            PropertyValue::Instant(table.inner().get(headers::TICKS).and_then(whole_number)?)
        }
        other => match whole_number(other) {
            Some(number) => PropertyValue::Integer(number),
            None => PropertyValue::Text(text(other)?),
        },
    })
}

fn whole_number(value: &AMQPValue) -> Option<i64> {
    Some(match value {
        AMQPValue::ShortShortInt(number) => i64::from(*number),
        AMQPValue::ShortShortUInt(number) => i64::from(*number),
        AMQPValue::ShortInt(number) => i64::from(*number),
        AMQPValue::ShortUInt(number) => i64::from(*number),
        AMQPValue::LongInt(number) => i64::from(*number),
        AMQPValue::LongUInt(number) => i64::from(*number),
        AMQPValue::LongLongInt(number) => *number,
        _ => return None,
    })
}

/// Text; what is no UTF-8 in it is replaced, since nobody promised that it would be.
fn text(value: &AMQPValue) -> Option<String> {
    match value {
        AMQPValue::LongString(text) => Some(String::from_utf8_lossy(text.as_bytes()).into_owned()),
        AMQPValue::ShortString(text) => Some(text.as_str().to_owned()),
        _ => None,
    }
}
