//! What the user sees: progress while it works, a table or a JSON document at the end.

mod json;
mod narrator;
mod table;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub(crate) use json::document;
pub(crate) use narrator::Narrator;
pub(crate) use table::table;

use crate::account::{Account, Fate, Sent};
use crate::events::Reading;
use crate::operator::Verdict;
use crate::plan::{Kill, Plan};
use crate::supervise::Aftermath;

/// Everything that the closing report draws on.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) seed: u64,
    pub(crate) reading: &'a Reading,
    pub(crate) plan: &'a Plan,
    pub(crate) account: &'a Account,
    pub(crate) kills: &'a [Aftermath],
    /// What the second act came to.
    pub(crate) verdict: &'a Verdict,
    /// Where the databases are, if they stay.
    pub(crate) kept: Option<PathBuf>,
}

/// The point of a kill, in words.
fn point(kill: &Kill) -> &'static str {
    match kill {
        Kill::BeforeRecord(_) => "between handler and record",
        Kill::BeforeSettlement(_) => "between record and settlement",
        Kill::AfterDeliveries(_) => "at a moment chosen by chance",
    }
}

/// Why a message was set aside.
fn reason(sent: &Sent, fate: &Fate) -> String {
    match fate {
        Fate::DeadLettered(reason) => reason.clone(),
        _ => format!("no handler takes the type {}", shown(&sent.event_type)),
    }
}

/// An id as it is shown: whatever it holds, on one line of bounded length.
fn shown(id: &str) -> String {
    const LONGEST: usize = 60;
    let plain = !id.is_empty() && !id.chars().any(|c| c.is_control() || c.is_whitespace());
    let cut: String = id.chars().take(LONGEST).collect();
    let dots = if cut.len() < id.len() { "…" } else { "" };
    if plain {
        format!("{cut}{dots}")
    } else {
        format!("{cut:?}{dots}")
    }
}
