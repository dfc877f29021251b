//! Tables for people, JSON for programs.

mod event;
mod event_table;
mod session;
mod table;
mod text;

use std::io::{ErrorKind, Write, stdout};

use serde::Serialize;

use crate::failure::Failure;

pub(crate) use event::{EventView, HistoryView};
pub(crate) use session::{ParkedView, SessionView};
pub(crate) use table::{Table, fields};
pub(crate) use text::{cut, instant, plain};

/// How results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Table,
    Json,
}

impl Output {
    /// Shows a result: `json` to programs, what `table` makes to people.
    pub(crate) fn show<T: Serialize>(
        self,
        json: &T,
        table: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        match self {
            // Strings, numbers and lists always serialise.
            Self::Json => print(&format!(
                "{}\n",
                serde_json::to_string_pretty(json).unwrap_or_default()
            )),
            Self::Table => print(&table()),
        }
    }
}

/// Writes to the standard output. Who closes it, as `head` does, has read enough.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::unwritable(&error)),
        _ => Ok(()),
    }
}
