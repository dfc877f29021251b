//! Answers that a case can rely on.

use std::error::Error;
use std::fmt::Write as _;

use nimbus_messaging::TransportError;

/// The value, or a failure with the whole chain of causes.
pub(in crate::conformance) fn expect<T>(what: &str, result: Result<T, TransportError>) -> T {
    result.unwrap_or_else(|error| {
        let mut text = format!("{what} failed ({:?}): {error}", error.kind());
        let mut source = error.source();
        while let Some(cause) = source {
            // Writing to a string can't fail.
            let _ = write!(text, ": {cause}");
            source = cause.source();
        }
        panic!("{text}")
    })
}
