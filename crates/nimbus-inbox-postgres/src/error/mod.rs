//! From an error of the driver to the inbox's, in one place (INB-26).

mod classify;
#[cfg(feature = "sqlx")]
mod sqlx;

use std::error::Error as StdError;
use std::fmt;

use deadpool_postgres::{PoolError, TimeoutType};
use nimbus_inbox_core::{Error, ErrorKind, Operation};
use tokio_postgres::error::SqlState;

use crate::tables::Unusable;

pub(crate) use classify::{Phase, Verdict, verdict};

/// The name of this provider in metrics and logs.
pub(crate) const PROVIDER: &str = "postgres";

/// A set-up that no call can succeed with.
pub(crate) fn misconfigured(operation: Operation, context: impl Into<String>) -> Error {
    Error::configuration(operation, context).with_provider(PROVIDER)
}

/// What errors name: the server, what is kept there, and what makes it.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) server: String,
    /// A table, or the schema of several.
    pub(crate) tables: String,
    /// The command that creates or checks them.
    pub(crate) command: String,
}

/// An error of the driver, understood.
pub(crate) struct Told {
    pub(crate) verdict: Verdict,
    pub(crate) text: String,
}

impl Site {
    /// A statement failed that only reads.
    pub(crate) fn read_failed(&self, operation: Operation, error: tokio_postgres::Error) -> Error {
        self.failed(operation, error, Phase::Reading)
    }

    /// A statement failed that may have taken effect all the same.
    pub(crate) fn write_failed(&self, operation: Operation, error: tokio_postgres::Error) -> Error {
        self.failed(operation, error, Phase::Writing)
    }

    /// The tables can't be used.
    pub(crate) fn unusable(&self, operation: Operation, unusable: Unusable) -> Error {
        match unusable {
            Unusable::Pool(error) => self.no_connection(operation, error),
            Unusable::Statement(error) => self.read_failed(operation, error),
            Unusable::Encoding(encoding) => misconfigured(operation, self.encoding(&encoding)),
            Unusable::Missing => {
                let context = self.said(&format!("was asked in vain{}", self.missing()));
                misconfigured(operation, context)
            }
        }
    }

    fn encoding(&self, encoding: &str) -> String {
        self.said(&format!(
            "has a database with the encoding {encoding}, which can't hold every id: give one \
             that was created with the encoding UTF8"
        ))
    }

    /// No connection could be had.
    pub(crate) fn no_connection(&self, operation: Operation, error: PoolError) -> Error {
        let context = match error {
            PoolError::Backend(error) => return self.failed(operation, error, Phase::Connecting),
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => {
                "did not accept a connection in time"
            }
            PoolError::Timeout(TimeoutType::Wait) => {
                "was not asked: all connections of the pool were in use for as long as a call may \
                 wait; if that goes on, raise the pool size or shorten the handlers"
            }
            PoolError::Closed => "was not asked: the pool is closed, so the program is ending",
            PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                let context =
                    self.said("can't be reached through this pool: check how it is built");
                return misconfigured(operation, context).with_source(error);
            }
        };
        Error::transient(operation, self.said(context)).with_provider(PROVIDER)
    }

    fn failed(&self, operation: Operation, error: tokio_postgres::Error, phase: Phase) -> Error {
        let Told { verdict, text } = self.told(&error, phase);
        Error::new(kind(verdict), operation, text)
            .with_provider(PROVIDER)
            .with_source(Driver(error))
    }

    /// What an error means, and what the person on call reads of it.
    pub(crate) fn told(&self, error: &tokio_postgres::Error, phase: Phase) -> Told {
        let verdict = verdict(error, phase);
        let text = self.explained(verdict, error.code().map(SqlState::code), phase);
        Told { verdict, text }
    }

    fn explained(&self, verdict: Verdict, code: Option<&str>, phase: Phase) -> String {
        let code = code.map(|code| format!(" (SQLSTATE {code})"));
        let code = code.unwrap_or_default();
        let did = match phase {
            Phase::Connecting => "could not be connected to",
            Phase::Reading | Phase::Writing => "failed a statement",
        };
        self.said(&format!("{did}{code}{}", self.remedy(verdict)))
    }

    fn remedy(&self, verdict: Verdict) -> String {
        let (table, command) = (&self.tables, &self.command);
        match verdict {
            Verdict::Passing => String::new(),
            Verdict::Unknown => {
                "; it may have happened all the same, and doing it again is right".to_owned()
            }
            Verdict::ReadOnly => "; it takes no writes now: if that goes on, connect to the \
                                  primary (target_session_attrs=read-write finds it)"
                .to_owned(),
            Verdict::Missing => self.missing(),
            Verdict::Denied => format!(
                "; the role lacks a permission on {table}: docs/providers/postgres.md lists what \
                 it needs, and `{command} --runtime-role ROLE` grants it"
            ),
            Verdict::Differs => {
                format!("; `{command} --check` tells how {table} differs from what is needed")
            }
            Verdict::SetUp => "; check address, database, user, password and TLS".to_owned(),
        }
    }

    /// The table is there, and not ours.
    pub(crate) fn foreign(&self, operation: Operation) -> Error {
        let remedy = self.remedy(Verdict::Differs);
        misconfigured(operation, self.said(&format!("has another table{remedy}")))
    }

    /// What to do about a table that isn't there.
    fn missing(&self) -> String {
        format!(
            "; {} is missing: run `{}`, or open it with automatic creation",
            self.tables, self.command
        )
    }

    /// A handler's transaction was rolled back at its commit.
    pub(crate) fn passed_over(&self) -> String {
        self.said(
            "rolled a handler's transaction back: one of its statements had failed, and the \
             handler went on as if it had not; it has to return such an error",
        )
    }

    /// The beginning of every text.
    pub(crate) fn said(&self, what: &str) -> String {
        format!("PostgreSQL at {} {what}", self.server)
    }
}

fn kind(verdict: Verdict) -> ErrorKind {
    match verdict {
        Verdict::Passing | Verdict::ReadOnly => ErrorKind::Transient,
        Verdict::Unknown => ErrorKind::OutcomeUnknown,
        _ => ErrorKind::Configuration,
    }
}

/// What the driver reported, and what the server said to it, in its language.
///
/// Not the server's details, which may hold ids.
#[derive(Debug)]
pub(crate) struct Driver(pub(crate) tokio_postgres::Error);

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_db_error() {
            Some(said) => f.write_str(said.message()),
            None => fmt::Display::fmt(&self.0, f),
        }
    }
}

impl StdError for Driver {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self.0.as_db_error() {
            Some(_) => None,
            None => self.0.source(),
        }
    }
}
