//! The JSON format: one object with the attributes and the data.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::attributes::{Attributes, is_core};
use super::media_type::MediaType;
use super::text::kind;
use super::{AttributeProblem, CloudEvent, CloudEventData, CloudEventFault, InvalidCloudEvent};
use crate::model::{describe, json_depth};

impl CloudEvent {
    /// Reads an event in the JSON format, the body of `application/cloudevents+json`.
    ///
    /// # Errors
    ///
    /// [`InvalidCloudEvent`] when it is not such JSON, is nested beyond 32 levels, or says
    /// something that the specification does not allow.
    pub fn from_json(json: &[u8]) -> Result<Self, InvalidCloudEvent> {
        let members = Members::read(json)?;
        let mut attributes = Attributes::default();
        let (mut data, mut data_base64) = (None, None);
        for (name, value) in members.0 {
            let payload = match name.as_str() {
                "data" => &mut data,
                "data_base64" => &mut data_base64,
                _ => {
                    // A null stands for an attribute that is not set.
                    if value.get() != "null" {
                        attributes.take(&name, attribute(&name, value.get()));
                    }
                    continue;
                }
            };
            if payload.replace(value.get()).is_some() {
                attributes.note(Err(CloudEventFault::Duplicate { member: name }));
            }
        }
        let content_type = attributes.get("datacontenttype");
        let data_base64 = data_base64.filter(|base64| *base64 != "null");
        let payload = read_payload(data, data_base64, content_type);
        let payload = payload.unwrap_or_else(|fault| {
            attributes.note(Err(fault));
            None
        });
        attributes.into_event(payload)
    }
}

/// The members of an object in their order, repeated ones included, each as it was written.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    fn read(json: &'a [u8]) -> Result<Self, CloudEventFault> {
        json_depth::check(json).map_err(|_| CloudEventFault::TooDeep {
            limit: json_depth::MAX_DEPTH,
        })?;
        let malformed = |error: serde_json::Error| CloudEventFault::Json {
            problem: describe(&error),
        };
        let whole: &RawValue = serde_json::from_slice(json).map_err(malformed)?;
        if !whole.get().starts_with('{') {
            return Err(CloudEventFault::Shape {
                found: kind(whole.get()),
                expected: "an object",
            });
        }
        serde_json::from_str(whole.get()).map_err(malformed)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// The value of an attribute in its string form.
///
/// A whole number may be larger than the 32 bits that the specification grants it: counters of
/// real producers are, and an event is not worth less for it.
fn attribute(name: &str, json: &str) -> Result<String, AttributeProblem> {
    let is_whole = || {
        let digits = json.strip_prefix('-').unwrap_or(json);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let found = match kind(json) {
        "a string" => return serde_json::from_str(json).map_err(|_| AttributeProblem::Escape),
        "a truth value" if !is_core(name) => return Ok(json.to_owned()),
        "a number" if !is_core(name) && is_whole() => return Ok(json.to_owned()),
        "a number" if !is_core(name) => "a number with a fraction or an exponent",
        other => other,
    };
    let expected = if is_core(name) {
        "a string"
    } else {
        "a string, a whole number or a truth value"
    };
    Err(AttributeProblem::Type { found, expected })
}

fn read_payload(
    data: Option<&str>,
    data_base64: Option<&str>,
    content_type: Option<&str>,
) -> Result<Option<CloudEventData>, CloudEventFault> {
    match (data, data_base64) {
        (Some(_), Some(_)) => Err(CloudEventFault::TwoData),
        (None, Some(base64)) => read_base64(base64).map(Some),
        (Some(json), None) => read_data(json, content_type).map(Some),
        (None, None) => Ok(None),
    }
}

fn read_base64(json: &str) -> Result<CloudEventData, CloudEventFault> {
    let fault = CloudEventFault::Base64 { found: kind(json) };
    let Ok(text) = serde_json::from_str::<String>(json) else {
        return Err(fault);
    };
    let bytes = STANDARD.decode(text).map_err(|_| fault)?;
    Ok(CloudEventData::Binary(bytes.into()))
}

fn read_data(json: &str, content_type: Option<&str>) -> Result<CloudEventData, CloudEventFault> {
    // Without a type the data is JSON, and a type that is none is found with the attributes.
    let other = content_type.filter(|text| MediaType::parse(text).is_some_and(|t| !t.is_json()));
    let Some(content_type) = other else {
        return Ok(CloudEventData::Json(json.to_owned()));
    };
    match serde_json::from_str(json) {
        Ok(text) => Ok(CloudEventData::Text(text)),
        Err(_) => Err(CloudEventFault::DataNotText {
            found: kind(json),
            content_type: content_type.to_owned(),
        }),
    }
}
