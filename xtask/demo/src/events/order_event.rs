//! The demo's own format; `data/README.md` describes it.

use super::Event;
use super::fields::{Fields, instant};

pub(super) fn parse(fields: &Fields) -> Result<Event, String> {
    let message_id = fields.text("messageId")?;
    let session = fields.name("sessionId")?;
    let event_type = fields.name("eventType")?;
    instant("occurredAt", &fields.text("occurredAt")?)?;
    Ok(Event {
        line: 0,
        message_id,
        session: Some(session),
        event_type,
        data: fields.object("data")?,
        cloud: None,
    })
}
