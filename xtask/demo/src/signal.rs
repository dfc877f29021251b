//! What the consumer tells its supervisor while it works: one JSON object a line on its standard
//! output. What was written before a kill is still read after it.

use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::plan::Kill;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Signal {
    /// The queue delivered a message.
    Delivered(Delivered),
    /// A message came to the point where the supervisor wants to kill, and stays there.
    Held(Kill),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Delivered {
    /// The publication it belongs to; drains belong to none.
    pub(crate) publication: Option<usize>,
    pub(crate) message_type: String,
    pub(crate) delivery_count: u32,
}

impl Signal {
    /// Writes it at once. Nobody reads after the supervisor's end, and then nothing is missing.
    pub(crate) fn send(&self) {
        if let Ok(mut line) = serde_json::to_vec(self) {
            line.push(b'\n');
            let mut output = std::io::stdout().lock();
            let _ = output.write_all(&line).and_then(|()| output.flush());
        }
    }

    pub(crate) fn read(line: &str) -> serde_json::Result<Self> {
        serde_json::from_str(line)
    }
}
