//! Tables for people, JSON for programs.

mod event;
mod event_table;
mod session;
mod table;
mod text;

use serde::Serialize;

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
    pub(crate) fn show<T: Serialize>(self, json: &T, table: impl FnOnce() -> String) {
        match self {
            Self::Json => {
                // Strings, numbers and lists always serialise.
                println!("{}", serde_json::to_string_pretty(json).unwrap_or_default());
            }
            Self::Table => print!("{}", table()),
        }
    }
}
