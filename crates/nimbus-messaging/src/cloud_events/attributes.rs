use std::collections::BTreeMap;

use nimbus_inbox_core::Timestamp;

use super::media_type::MediaType;
use super::text::shown;
use super::{
    AttributeProblem, CloudEvent, CloudEventData, CloudEventFault, CloudEventIdentity,
    InvalidCloudEvent, text, uri,
};

/// The only version that is read.
const VERSION: &str = "1.0";

/// Whether a text can be the name of an attribute: lower-case ASCII letters and digits, and not
/// `data`.
#[must_use]
pub fn is_attribute_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !name.is_empty() && name != "data" && name.bytes().all(allowed)
}

/// Whether the specification itself defines an attribute.
pub(super) fn is_core(name: &str) -> bool {
    let optional = ["subject", "time", "datacontenttype", "dataschema"];
    is_required(name) || optional.contains(&name)
}

/// Whether no CloudEvent can be without an attribute.
pub(super) fn is_required(name: &str) -> bool {
    ["specversion", "id", "source", "type"].contains(&name)
}

/// The attributes of one event while they are read.
///
/// The first fault is kept and reading goes on, so that what is said about the message can name
/// its event.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    values: BTreeMap<String, String>,
    fault: Option<CloudEventFault>,
}

impl Attributes {
    /// Takes what was read of one attribute.
    pub(super) fn take(&mut self, name: &str, value: Result<String, AttributeProblem>) {
        let taken = self.try_take(name, value);
        self.note(taken);
    }

    fn try_take(
        &mut self,
        name: &str,
        value: Result<String, AttributeProblem>,
    ) -> Result<(), CloudEventFault> {
        if !is_attribute_name(name) {
            return Err(CloudEventFault::Name { name: shown(name) });
        }
        let of = |problem| CloudEventFault::of(name, problem);
        let value = value.map_err(of)?;
        text::check(&value).map_err(of)?;
        if self.values.contains_key(name) {
            return Err(CloudEventFault::Duplicate {
                member: name.to_owned(),
            });
        }
        self.values.insert(name.to_owned(), value);
        Ok(())
    }

    /// Keeps a fault, if it is the first.
    pub(super) fn note(&mut self, outcome: Result<(), CloudEventFault>) {
        if let Err(fault) = outcome {
            self.fault.get_or_insert(fault);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The event, if every attribute is what it should be.
    pub(super) fn into_event(
        mut self,
        data: Option<CloudEventData>,
    ) -> Result<CloudEvent, InvalidCloudEvent> {
        let identity = CloudEventIdentity {
            id: self.values.get("id").cloned(),
            source: self.values.get("source").cloned(),
            event_type: self.values.get("type").cloned(),
            subject: self.values.get("subject").cloned(),
        };
        let content_type = self.values.get("datacontenttype").cloned();
        let event = match self.fault.take() {
            Some(fault) => Err(fault),
            None => self.validated(),
        };
        match event {
            Ok(event) => Ok(CloudEvent { data, ..event }),
            Err(fault) => {
                let json = data.and_then(|data| {
                    let json = data.json(content_type.as_deref()).ok()?;
                    Some(CloudEventData::Json(json.into_owned()))
                });
                Err(InvalidCloudEvent::new(fault, identity, json))
            }
        }
    }

    /// The event without its data.
    fn validated(mut self) -> Result<CloudEvent, CloudEventFault> {
        let version = self.required("specversion")?;
        if version != VERSION {
            let found = shown(&version);
            let problem = AttributeProblem::Version { found };
            return Err(CloudEventFault::of("specversion", problem));
        }
        let id = self.required("id")?;
        let source = self.required("source")?;
        check("source", &source, uri::check_reference)?;
        let event_type = self.required("type")?;
        Ok(CloudEvent {
            id,
            source,
            event_type,
            subject: self.optional("subject", |_| Ok(()))?,
            time: self.optional("time", check_time)?,
            data_content_type: self.optional("datacontenttype", check_media_type)?,
            data_schema: self.optional("dataschema", uri::check_absolute)?,
            extensions: self.values,
            data: None,
        })
    }

    fn required(&mut self, name: &'static str) -> Result<String, CloudEventFault> {
        self.optional(name, |_| Ok(()))?
            .ok_or(CloudEventFault::Missing { attribute: name })
    }

    fn optional(
        &mut self,
        name: &'static str,
        is_valid: impl FnOnce(&str) -> Result<(), AttributeProblem>,
    ) -> Result<Option<String>, CloudEventFault> {
        let Some(value) = self.values.remove(name) else {
            return Ok(None);
        };
        if value.is_empty() {
            return Err(CloudEventFault::of(name, AttributeProblem::Empty));
        }
        check(name, &value, is_valid)?;
        Ok(Some(value))
    }
}

fn check(
    name: &str,
    value: &str,
    is_valid: impl FnOnce(&str) -> Result<(), AttributeProblem>,
) -> Result<(), CloudEventFault> {
    is_valid(value).map_err(|problem| CloudEventFault::of(name, problem))
}

/// The text is kept: an offset says more than the instant.
fn check_time(text: &str) -> Result<(), AttributeProblem> {
    text.parse::<Timestamp>()
        .map(drop)
        .map_err(|_| AttributeProblem::Time)
}

fn check_media_type(text: &str) -> Result<(), AttributeProblem> {
    MediaType::parse(text)
        .map(drop)
        .ok_or(AttributeProblem::MediaType)
}
