//! The JSON batch format: an array of events.

use serde_json::value::RawValue;

use super::text::kind;
use super::{CloudEvent, CloudEventFault, InvalidCloudEvent};
use crate::model::describe;

impl CloudEvent {
    /// Reads a batch in the JSON format, the body of `application/cloudevents-batch+json`. Its
    /// events have nothing to do with each other, so each is read on its own.
    ///
    /// # Errors
    ///
    /// [`InvalidCloudEvent`] when it is no JSON array; within it, for each event that
    /// [`from_json`](Self::from_json) refuses.
    pub fn batch_from_json(
        json: &[u8],
    ) -> Result<Vec<Result<Self, InvalidCloudEvent>>, InvalidCloudEvent> {
        let malformed = |error: serde_json::Error| CloudEventFault::Json {
            problem: describe(&error),
        };
        let whole: &RawValue = serde_json::from_slice(json).map_err(malformed)?;
        if !whole.get().starts_with('[') {
            return Err(InvalidCloudEvent::from(CloudEventFault::Shape {
                found: kind(whole.get()),
                expected: "an array",
            }));
        }
        let events: Vec<&RawValue> = serde_json::from_str(whole.get()).map_err(malformed)?;
        let read = |event: &RawValue| Self::from_json(event.get().as_bytes());
        Ok(events.into_iter().map(read).collect())
    }
}
