//! The events to publish, read from a file of JSON Lines.

mod cloud_event;
mod fields;
mod lines;
mod order_event;
mod read;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::value::RawValue;

pub(crate) use read::read;

/// One event of the file.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    /// Line of the file, from 1.
    pub(crate) line: usize,
    /// The same whenever the same event is published; may be unusable for the inbox.
    pub(crate) message_id: String,
    /// Events of one session are handled in file order; one without a session has no order.
    pub(crate) session: Option<String>,
    pub(crate) event_type: String,
    /// As it stands in the file: numbers keep every digit.
    pub(crate) data: Box<RawValue>,
    /// What a CloudEvent said of itself.
    pub(crate) cloud: Option<CloudAttributes>,
}

/// The attributes of a CloudEvent that travel with its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CloudAttributes {
    pub(crate) id: String,
    pub(crate) source: String,
    pub(crate) subject: Option<String>,
}

/// A line that holds no event, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct BadLine {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

/// What a file of events holds.
#[derive(Debug, Default)]
pub(crate) struct EventFile {
    pub(crate) events: Vec<Event>,
    pub(crate) reading: Reading,
}

/// How reading the file went.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) lines: usize,
    /// Lines that hold no event.
    pub(crate) bad_lines: Vec<BadLine>,
    /// Lines that hold an event and something that its author should know.
    pub(crate) remarks: Vec<Remark>,
    /// The first line opens an array, as a file that is one JSON document does.
    opens_an_array: bool,
}

/// What the author of a line should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Remark {
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Reading {
    /// What to do about a file without any event.
    pub(crate) fn advice(&self) -> &'static str {
        if self.opens_an_array {
            "; it looks like one JSON array, and `jq -c '.[]'` makes lines of it"
        } else {
            ""
        }
    }
}

/// The order events that come with the demo.
pub(crate) fn own_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/orders.jsonl")
}
