use std::borrow::Cow;

use bytes::Bytes;
use serde_json::value::RawValue;

use super::CloudEventFault;
use super::media_type::MediaType;
use crate::model::{describe, json_depth};

/// What a CloudEvent carries.
#[derive(Clone, PartialEq, Eq)]
pub enum CloudEventData {
    /// JSON, as it was written: numbers keep every digit.
    Json(String),
    /// Text of a type that is not JSON.
    Text(String),
    /// Bytes, as they came.
    Binary(Bytes),
}

impl CloudEventData {
    /// The data as JSON, if its type says that it is.
    pub(super) fn json(&self, content_type: Option<&str>) -> Result<Cow<'_, str>, CloudEventFault> {
        let bytes = match self {
            Self::Json(json) => return Ok(Cow::Borrowed(json)),
            Self::Text(_) => None,
            Self::Binary(bytes) => Some(bytes),
        };
        // Bytes without a type may be anything, even where they look like JSON.
        let content_type = content_type.ok_or(CloudEventFault::DataOfNoType)?;
        let media_type = MediaType::parse(content_type).filter(MediaType::is_json);
        let (Some(bytes), Some(media_type)) = (bytes, media_type) else {
            return Err(CloudEventFault::DataNotJson {
                content_type: content_type.to_owned(),
            });
        };
        media_type.require_utf_8()?;
        json_depth::check(bytes).map_err(|_| CloudEventFault::TooDeep {
            limit: json_depth::MAX_DEPTH,
        })?;
        serde_json::from_slice::<&RawValue>(bytes)
            .map(|json| Cow::Borrowed(json.get()))
            .map_err(|error| CloudEventFault::DataMalformed {
                problem: describe(&error),
            })
    }
}

/// Shows the length of the data, never the data (INB-09).
impl std::fmt::Debug for CloudEventData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, bytes) = match self {
            Self::Json(json) => ("Json", json.len()),
            Self::Text(text) => ("Text", text.len()),
            Self::Binary(bytes) => ("Binary", bytes.len()),
        };
        f.debug_struct(kind).field("bytes", &bytes).finish()
    }
}
