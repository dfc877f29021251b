//! CloudEvents 1.0 in structured mode: one JSON object with the attributes and the data.

use super::fields::{Fields, instant};
use super::{CloudAttributes, Event};

pub(super) fn parse(fields: &Fields) -> Result<Event, String> {
    let version = fields.text("specversion")?;
    if version != "1.0" {
        return Err(format!(
            "specversion is {version:?}; only CloudEvents 1.0 are read"
        ));
    }
    let id = fields.name("id")?;
    let source = fields.name("source")?;
    if source.contains(char::is_whitespace) {
        return Err("source holds white space, so it is no URI reference".to_owned());
    }
    let event_type = fields.name("type")?;
    let subject = fields.optional_name("subject")?;
    let session = match fields.optional_name("sessionid")? {
        Some(session) => Some(session),
        None => subject.clone(),
    };
    if let Some(time) = fields.optional_name("time")? {
        instant("time", &time)?;
    }
    if let Some(media_type) = fields.optional_name("datacontenttype")?
        && !is_json(&media_type)
    {
        return Err(format!(
            "datacontenttype is {media_type:?}; only JSON is read"
        ));
    }
    if fields.has("data_base64") {
        return Err("data_base64 holds bytes; only JSON in data is read".to_owned());
    }
    Ok(Event {
        line: 0,
        // An id is unique within its source only. No source holds a space, so no two pairs join
        // into the same text.
        message_id: format!("{source} {id}"),
        session,
        event_type,
        data: fields.object("data")?,
        cloud: Some(CloudAttributes {
            id,
            source,
            subject,
        }),
    })
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    matches!(essence.as_str(), "application/json" | "text/json") || essence.ends_with("+json")
}
