//! Errors of sqlx, which say the same in other words.

use nimbus_inbox_core::{Error, Operation};

use super::classify::{broken, of_code};
use super::{PROVIDER, Phase, Site, Verdict, kind};

impl Site {
    /// A statement of sqlx failed, or no connection could be had.
    pub(crate) fn sqlx_failed(
        &self,
        operation: Operation,
        error: sqlx::Error,
        phase: Phase,
    ) -> Error {
        let told = error.as_database_error();
        let code = told.and_then(|told| told.code().map(String::from));
        let verdict = match &code {
            Some(code) => of_code(code, phase),
            None => of_driver(&error, phase),
        };
        let text = self.explained(verdict, code.as_deref(), phase);
        let failure = Error::new(kind(verdict), operation, text).with_provider(PROVIDER);
        match told {
            // Not the server's details, which may hold ids.
            Some(told) => failure.with_source(told.message().to_owned()),
            None => failure.with_source(error),
        }
    }
}

fn of_driver(error: &sqlx::Error, phase: Phase) -> Verdict {
    match error {
        sqlx::Error::Configuration(_) | sqlx::Error::Tls(_) => Verdict::SetUp,
        sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => Verdict::Passing,
        sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::Decode(_)
        | sqlx::Error::Encode(_) => Verdict::Differs,
        _ => broken(phase),
    }
}
