//! CloudEvents 1.0 in structured mode: one JSON object with the attributes and the data.

use nimbus_messaging::{CloudEvent, CloudEventData};

use super::fields::{LONGEST_TEXT, object};
use super::{CloudAttributes, Event};

pub(super) fn parse(text: &str) -> Result<Event, String> {
    let event = CloudEvent::from_json(text.as_bytes()).map_err(|invalid| invalid.to_string())?;
    let id = said("id", event.id())?;
    let source = said("source", event.source())?;
    let event_type = said("type", event.event_type())?;
    let optional = |name| {
        event
            .attribute(name)
            .map(|text| said(name, text))
            .transpose()
    };
    let subject = optional("subject")?;
    let session = match optional("sessionid")? {
        Some(session) => Some(session),
        None => subject.clone(),
    };
    let data = match event.data() {
        None => return Err("no data".to_owned()),
        Some(CloudEventData::Json(json)) => object("data", json)?,
        Some(CloudEventData::Text(_)) => {
            let media_type = event.data_content_type().unwrap_or_default();
            return Err(format!(
                "datacontenttype is {media_type:?}; only JSON is read"
            ));
        }
        Some(CloudEventData::Binary(_)) => {
            return Err("data_base64 holds bytes; only JSON in data is read".to_owned());
        }
    };
    Ok(Event {
        line: 0,
        // An id is unique within its source only. No source holds a space, so no two pairs join
        // into the same text.
        message_id: format!("{source} {id}"),
        session,
        event_type,
        data,
        cloud: Some(CloudAttributes {
            id,
            source,
            subject,
        }),
    })
}

/// An attribute that says something in no more than what messages carry several times over.
fn said(name: &str, text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err(format!("{name} is empty"));
    }
    if text.len() > LONGEST_TEXT {
        return Err(format!("{name} is longer than {LONGEST_TEXT} bytes"));
    }
    Ok(text.to_owned())
}
