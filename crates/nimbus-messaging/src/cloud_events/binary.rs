//! Binary content mode: attributes in application properties, the data as the body.

use std::borrow::Cow;

use super::attributes::{Attributes, is_required};
use super::{AttributeProblem, CloudEvent, CloudEventData, CloudEventFault, InvalidCloudEvent};
use crate::wire::{Envelope, PropertyValue};

/// What stands before the name of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prefix {
    /// `cloudEvents:` of the AMQP binding.
    Colon,
    /// `cloudEvents_` of the AMQP binding, for clients that can't write a colon.
    Underscore,
    /// `ce-` of the HTTP binding, where names have no case.
    Http,
}

/// The attribute that a property holds, if it holds one.
fn attribute_of(property: &str) -> Option<(Prefix, Cow<'_, str>)> {
    let amqp = |prefix| property.strip_prefix(prefix).map(Cow::Borrowed);
    if let Some(name) = amqp("cloudEvents:") {
        return Some((Prefix::Colon, name));
    }
    if let Some(name) = amqp("cloudEvents_") {
        return Some((Prefix::Underscore, name));
    }
    let (prefix, name) = property.split_at_checked(3)?;
    let name = Cow::Owned(name.to_ascii_lowercase());
    prefix
        .eq_ignore_ascii_case("ce-")
        .then_some((Prefix::Http, name))
}

/// Whether a message has one of the attributes that no CloudEvent can be without.
pub(super) fn is_marked(envelope: &Envelope) -> bool {
    let mut attributes = envelope
        .properties
        .iter()
        .filter_map(|(property, _)| attribute_of(property));
    attributes.any(|(_, name)| is_required(&name))
}

pub(super) fn read(envelope: &Envelope) -> Result<CloudEvent, InvalidCloudEvent> {
    let mut attributes = Attributes::default();
    let mut first_prefix = None;
    for (property, value) in envelope.properties.iter() {
        let Some((prefix, name)) = attribute_of(property) else {
            continue;
        };
        if *first_prefix.get_or_insert(prefix) != prefix {
            attributes.note(Err(CloudEventFault::MixedPrefixes));
        }
        attributes.take(&name, attribute(prefix, value));
    }
    // The content type is the datacontenttype. Where a broker lost it, a property may have it.
    if let Some(content_type) = envelope
        .content_type
        .as_ref()
        .filter(|text| !text.is_empty())
        && attributes.get("datacontenttype") != Some(content_type.as_str())
    {
        attributes.take("datacontenttype", Ok(content_type.clone()));
    }
    let data = (!envelope.body.is_empty()).then(|| CloudEventData::Binary(envelope.body.clone()));
    attributes.into_event(data)
}

/// The value of an attribute in its string form.
fn attribute(prefix: Prefix, value: &PropertyValue) -> Result<String, AttributeProblem> {
    match value {
        PropertyValue::Text(text) if prefix == Prefix::Http => header_value(text),
        PropertyValue::Float(_) => Err(AttributeProblem::Type {
            found: "a number with a fraction",
            expected: "a string, a whole number, a truth value or an instant",
        }),
        other => Ok(other.to_text().into_owned()),
    }
}

/// Decodes the value of an HTTP header: quotes first, which older producers write, then
/// percent-encoding, once. A % that encodes nothing stands for itself.
fn header_value(text: &str) -> Result<String, AttributeProblem> {
    let unquoted = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let text = unquoted.map_or(Cow::Borrowed(text), |quoted| Cow::Owned(unescape(quoted)));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        match (first, hex_byte(behind)) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| AttributeProblem::Escape)
}

fn unescape(quoted: &str) -> String {
    let mut characters = quoted.chars();
    let mut text = String::with_capacity(quoted.len());
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        });
    }
    text
}

fn hex_byte(bytes: &[u8]) -> Option<u8> {
    let [high, low, ..] = bytes else {
        return None;
    };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-06: a header's value is unquoted and decoded once, and must be UTF-8 then.
    #[test]
    fn header_values_are_decoded() {
        for (written, meant) in [
            ("Euro%20%E2%82%ac%20%F0%9F%98%80", "Euro \u{20ac} \u{1f600}"),
            (r#""two \"quoted\" words""#, "two \"quoted\" words"),
            ("%2541", "%41"),
            ("100%", "100%"),
            ("%z1%4", "%z1%4"),
            ("\"", "\""),
            ("", ""),
        ] {
            assert_eq!(header_value(written), Ok(meant.to_owned()), "{written}");
        }
        for overlong_or_cut in ["%C0%A0", "%E2%82", "a%FF"] {
            assert_eq!(header_value(overlong_or_cut), Err(AttributeProblem::Escape));
        }
    }
}
