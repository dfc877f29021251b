//! From SQLSTATE to what it means for a message.
//!
//! By code alone: the server's texts are in its own language.

use std::error::Error as StdError;
use std::io;

/// What was under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Opening a connection: no statement was sent.
    Connecting,
    /// A statement without effects.
    Reading,
    /// A statement that may have taken effect when its answer is lost.
    Writing,
}

/// What an error means, and which advice goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The same call may succeed later.
    Passing,
    /// As passing: a server that was demoted, or a standby.
    ReadOnly,
    /// It may have taken effect.
    Unknown,
    /// The table or its schema isn't there.
    Missing,
    /// The role may not.
    Denied,
    /// Our statements never change, so one that is refused has met a table that is not ours.
    Differs,
    /// The server can't be used as it is addressed.
    SetUp,
}

pub(crate) fn verdict(error: &tokio_postgres::Error, phase: Phase) -> Verdict {
    match error.code() {
        Some(state) => of_code(state.code(), phase),
        None => of_driver(error, phase),
    }
}

pub(super) fn of_code(code: &str, phase: Phase) -> Verdict {
    match code {
        // The server ended the connection, or lost its own: a commit may have gone before that.
        "57P01" | "57P02" | "40003" | "08006" | "08007" => broken(phase),
        "57P04" => Verdict::SetUp,
        "25006" => Verdict::ReadOnly,
        "42P01" | "3F000" => Verdict::Missing,
        "42501" => Verdict::Denied,
        "XX001" | "XX002" => Verdict::Differs,
        _ => match code.get(..2).unwrap_or_default() {
            // Connections, transaction states, rollbacks, resources, prerequisites, operators'
            // interventions, the system, and what the server calls internal.
            "08" | "25" | "40" | "53" | "55" | "57" | "58" | "XX" => Verdict::Passing,
            "28" | "3D" => Verdict::SetUp,
            _ if phase == Phase::Connecting => Verdict::SetUp,
            _ => Verdict::Differs,
        },
    }
}

fn of_driver(error: &tokio_postgres::Error, phase: Phase) -> Verdict {
    if error.is_closed() {
        return broken(phase);
    }
    match cause::<io::Error>(error) {
        // Certificates don't change by waiting.
        Some(io) if is_tls(io) => Verdict::SetUp,
        Some(_) => broken(phase),
        None => match phase {
            Phase::Connecting => Verdict::SetUp,
            Phase::Reading | Phase::Writing if is_value(error) => Verdict::Differs,
            Phase::Reading | Phase::Writing => broken(phase),
        },
    }
}

pub(super) fn broken(phase: Phase) -> Verdict {
    match phase {
        Phase::Connecting | Phase::Reading => Verdict::Passing,
        Phase::Writing => Verdict::Unknown,
    }
}

/// A refusal of rustls, as opposed to a connection that was lost while it spoke.
fn is_tls(error: &io::Error) -> bool {
    let inner = error.get_ref();
    inner.is_some_and(|inner| inner.is::<rustls::Error>())
        || matches!(error.kind(), io::ErrorKind::InvalidInput)
}

/// Whether a value had another type than a statement of ours gives it: what the driver wraps then
/// comes from the value's own conversion, and never from the connection.
fn is_value(error: &tokio_postgres::Error) -> bool {
    error.source().is_some()
}

fn cause<'e, T: StdError + 'static>(error: &'e (dyn StdError + 'static)) -> Option<&'e T> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        source = cause.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// INB-26
    #[test]
    fn codes_mean_the_same_in_every_language() {
        for (code, expected) in [
            ("40001", Verdict::Passing),
            ("40P01", Verdict::Passing),
            ("55P03", Verdict::Passing),
            ("53100", Verdict::Passing),
            ("53300", Verdict::Passing),
            ("57014", Verdict::Passing),
            ("57P03", Verdict::Passing),
            ("57P05", Verdict::Passing),
            ("58030", Verdict::Passing),
            ("25P02", Verdict::Passing),
            ("25P03", Verdict::Passing),
            ("08P01", Verdict::Passing),
            ("XX000", Verdict::Passing),
            ("25006", Verdict::ReadOnly),
            ("42P01", Verdict::Missing),
            ("3F000", Verdict::Missing),
            ("42501", Verdict::Denied),
            ("42703", Verdict::Differs),
            ("42P10", Verdict::Differs),
            ("23502", Verdict::Differs),
            ("22P05", Verdict::Differs),
            ("XX001", Verdict::Differs),
            ("28P01", Verdict::SetUp),
            ("28000", Verdict::SetUp),
            ("3D000", Verdict::SetUp),
            ("57P04", Verdict::SetUp),
        ] {
            assert_eq!(of_code(code, Phase::Reading), expected, "{code}");
            assert_eq!(of_code(code, Phase::Writing), expected, "{code}");
        }
    }

    /// INB-26: after a lost connection a write may have happened, a read has lost nothing.
    #[test]
    fn only_a_write_has_an_unknown_outcome() {
        for code in ["57P01", "57P02", "08006", "40003"] {
            assert_eq!(of_code(code, Phase::Writing), Verdict::Unknown, "{code}");
            assert_eq!(of_code(code, Phase::Reading), Verdict::Passing, "{code}");
            assert_eq!(of_code(code, Phase::Connecting), Verdict::Passing, "{code}");
        }
    }

    #[test]
    fn what_is_no_code_at_all_is_no_panic() {
        for code in ["", "4", "\u{1f600}"] {
            assert_eq!(of_code(code, Phase::Reading), Verdict::Differs);
        }
    }
}
