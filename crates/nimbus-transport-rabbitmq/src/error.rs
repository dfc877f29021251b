//! From the driver's errors to the transport's, in one place.

use std::fmt;
use std::io;

use lapin::ErrorKind;
use nimbus_messaging::{TransportError, TransportErrorKind};

/// AMQP's number for something that is not declared.
const NOT_FOUND: u16 = 404;

/// What went wrong while doing `what`, for the person on call.
pub(crate) fn failed(what: impl fmt::Display, error: lapin::Error) -> TransportError {
    let (kind, advice) = classify(&error);
    TransportError::new(kind, format!("{what} failed{advice}")).with_source(error)
}

/// The broker answered that something is not declared.
pub(crate) fn is_not_found(error: &lapin::Error) -> bool {
    code(error) == Some(NOT_FOUND)
}

/// Whether the broker's answer is about the thing of that name, and not about something else that
/// was done on the same channel.
pub(crate) fn names(error: &lapin::Error, name: &str) -> bool {
    error.to_string().contains(&format!("'{name}'"))
}

pub(crate) fn unroutable(context: impl Into<String>) -> TransportError {
    TransportError::new(TransportErrorKind::Unroutable, context)
}

pub(crate) fn invalid(context: impl Into<String>) -> TransportError {
    TransportError::new(TransportErrorKind::InvalidInput, context)
}

pub(crate) fn unsupported(context: impl Into<String>) -> TransportError {
    TransportError::new(TransportErrorKind::Unsupported, context)
}

fn code(error: &lapin::Error) -> Option<u16> {
    match error.kind() {
        ErrorKind::ProtocolError(told) => Some(told.get_id()),
        _ => None,
    }
}

fn classify(error: &lapin::Error) -> (TransportErrorKind, &'static str) {
    use TransportErrorKind::{Configuration, InvalidInput, Transient};
    match error.kind() {
        ErrorKind::ProtocolError(told) => match told.get_id() {
            403 => (
                Configuration,
                ": the broker refused; check the user, its password and its permissions",
            ),
            406 => (
                Configuration,
                ": it exists already and differs; use the settings it was declared with, or \
                 delete it while it is empty",
            ),
            NOT_FOUND => (Configuration, ": it is not declared"),
            530 => (
                Configuration,
                ": the broker does not allow it; check that the virtual host exists",
            ),
            540 => (
                Configuration,
                ": the broker can't do that; RabbitMQ 3.10 or later is needed",
            ),
            _ => (Transient, ""),
        },
        ErrorKind::AuthProviderError(_) | ErrorKind::InvalidProtocolVersion(_) => {
            (Configuration, "")
        }
        // What TLS refuses, such as a certificate that nobody trusted vouches for.
        ErrorKind::IOError(told) if told.kind() == io::ErrorKind::InvalidData => (
            Configuration,
            ": TLS could not be agreed on; check the server's certificate and its name",
        ),
        ErrorKind::SerialisationError(_) => (InvalidInput, ""),
        _ => (Transient, ""),
    }
}
