//! Application properties as JSON: texts as they are, so that the `sqlite3` tool reads them; other
//! kinds tagged, so that they come back as they went.

use std::collections::BTreeMap;

use nimbus_messaging::{Properties, PropertyValue};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Text(String),
    Other(Tagged),
}

#[derive(Serialize, Deserialize)]
enum Tagged {
    Integer(i64),
    /// As text: a JSON number has no infinity, and its parser rounds.
    Float(String),
    Boolean(bool),
    Instant(i64),
}

pub(super) fn encode(properties: &Properties) -> String {
    let stored: BTreeMap<&str, Stored> = properties
        .iter()
        .map(|(name, value)| (name, store(value)))
        .collect();
    // Keys are strings, so this can't fail; an empty text would be refused on reading.
    serde_json::to_string(&stored).unwrap_or_default()
}

pub(super) fn decode(json: &str) -> Result<Properties, serde_json::Error> {
    let stored: BTreeMap<String, Stored> = serde_json::from_str(json)?;
    let mut properties = Properties::default();
    for (name, value) in stored {
        properties.set(name, restore(value)?);
    }
    Ok(properties)
}

fn store(value: &PropertyValue) -> Stored {
    match value {
        PropertyValue::Text(text) => Stored::Text(text.clone()),
        PropertyValue::Integer(number) => Stored::Other(Tagged::Integer(*number)),
        PropertyValue::Float(number) => Stored::Other(Tagged::Float(number.to_string())),
        PropertyValue::Boolean(value) => Stored::Other(Tagged::Boolean(*value)),
        PropertyValue::Instant(ticks) => Stored::Other(Tagged::Instant(*ticks)),
    }
}

fn restore(value: Stored) -> Result<PropertyValue, serde_json::Error> {
    Ok(match value {
        Stored::Text(text) => PropertyValue::Text(text),
        Stored::Other(Tagged::Integer(number)) => PropertyValue::Integer(number),
        Stored::Other(Tagged::Float(text)) => {
            PropertyValue::Float(text.parse().map_err(serde::de::Error::custom)?)
        }
        Stored::Other(Tagged::Boolean(value)) => PropertyValue::Boolean(value),
        Stored::Other(Tagged::Instant(ticks)) => PropertyValue::Instant(ticks),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_comes_back_as_it_went() {
        let mut properties = Properties::default();
        for (name, value) in [
            ("text", PropertyValue::from("snow \u{2603} \0 \"quoted\"")),
            ("empty", PropertyValue::from("")),
            ("integer", PropertyValue::Integer(i64::MIN)),
            ("tenth", PropertyValue::Float(0.1)),
            ("tiny", PropertyValue::Float(f64::from_bits(1))),
            ("infinite", PropertyValue::Float(f64::NEG_INFINITY)),
            ("boolean", PropertyValue::Boolean(false)),
            ("instant", PropertyValue::Instant(17_000_000_000_000_001)),
        ] {
            properties.set(name, value);
        }
        let back = decode(&encode(&properties)).expect("our own JSON");
        assert_eq!(back, properties);
    }

    #[test]
    fn a_number_that_is_none_survives_too() {
        let mut properties = Properties::default();
        properties.set("nan", PropertyValue::Float(f64::NAN));
        let back = decode(&encode(&properties)).expect("our own JSON");
        assert!(matches!(back.get("nan"), Some(PropertyValue::Float(number)) if number.is_nan()));
    }

    #[test]
    fn texts_are_readable_for_tools() {
        let mut properties = Properties::default();
        properties.set("EventTypeId", "OrderPlaced");
        assert_eq!(encode(&properties), r#"{"EventTypeId":"OrderPlaced"}"#);
    }
}
