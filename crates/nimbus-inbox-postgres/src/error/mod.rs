//! From an error of the driver to the inbox's, in one place (INB-26).

mod classify;

use std::error::Error as StdError;
use std::fmt;

use deadpool_postgres::{PoolError, TimeoutType};
use nimbus_inbox_core::{Error, ErrorKind, Operation};

pub(crate) use classify::{Phase, Verdict, verdict};

use crate::table::Table;

/// The name of this provider in metrics and logs.
pub(crate) const PROVIDER: &str = "postgres";

/// A set-up that no call can succeed with.
pub(crate) fn misconfigured(operation: Operation, context: impl Into<String>) -> Error {
    Error::configuration(operation, context).with_provider(PROVIDER)
}

/// What errors name: the server, and the table on it.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) server: String,
    pub(crate) table: Table,
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
        let verdict = verdict(&error, phase);
        let kind = match verdict {
            Verdict::Passing | Verdict::ReadOnly => ErrorKind::Transient,
            Verdict::Unknown => ErrorKind::OutcomeUnknown,
            _ => ErrorKind::Configuration,
        };
        let code = error
            .code()
            .map(|state| format!(" (SQLSTATE {})", state.code()))
            .unwrap_or_default();
        let did = match phase {
            Phase::Connecting => "could not be connected to",
            Phase::Reading | Phase::Writing => "failed a statement",
        };
        let remedy = self.remedy(verdict);
        Error::new(kind, operation, self.said(&format!("{did}{code}{remedy}")))
            .with_provider(PROVIDER)
            .with_source(Driver(error))
    }

    fn remedy(&self, verdict: Verdict) -> String {
        let (table, command) = (self.table.plain(), self.table.provision_command());
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
    pub(crate) fn missing(&self) -> String {
        format!(
            "; the table {} is missing: run `{}`, or open the inbox with automatic creation",
            self.table.plain(),
            self.table.provision_command()
        )
    }

    /// The beginning of every text.
    pub(crate) fn said(&self, what: &str) -> String {
        format!("PostgreSQL at {} {what}", self.server)
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
