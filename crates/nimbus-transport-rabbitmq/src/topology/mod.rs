//! Which exchanges and queues an endpoint has, and how they hang together.

mod declare;
mod endpoint;
mod ladder;
mod names;
mod partition;

use std::fmt;

pub(crate) use declare::{check, declare, exists};
pub(crate) use endpoint::endpoint;
pub(crate) use ladder::{Ladder, ladder};
pub(crate) use names::{EndpointNames, short};
pub(crate) use partition::{partition_of, random_key, session_key};

/// Something that is declared at the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Declaration {
    /// A durable exchange.
    Exchange {
        /// Its name.
        name: String,
        /// Its type: `topic` or `fanout`.
        kind: &'static str,
        /// Where it sends what none of its bindings takes.
        alternate: Option<String>,
    },
    /// A durable quorum queue.
    Queue {
        /// Its name.
        name: String,
        /// Its arguments beside the type.
        arguments: Vec<(&'static str, Argument)>,
    },
    /// What an exchange gives to a queue.
    QueueBinding {
        /// From this exchange,
        exchange: String,
        /// to this queue,
        queue: String,
        /// what has a routing key of this pattern.
        pattern: String,
    },
    /// What an exchange gives to another.
    ExchangeBinding {
        /// From this exchange,
        exchange: String,
        /// to this one,
        destination: String,
        /// what has a routing key of this pattern.
        pattern: String,
    },
}

/// The value of a queue's argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Argument {
    /// Text.
    Text(String),
    /// A number.
    Number(i64),
    /// A truth value.
    Truth(bool),
}

/// Everything that is declared for one endpoint, in an order in which it can be declared.
///
/// `Display` writes a line for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology(pub(crate) Vec<Declaration>);

impl Topology {
    /// What is declared.
    #[must_use]
    pub fn declarations(&self) -> &[Declaration] {
        &self.0
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|declared| writeln!(f, "{declared}"))
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => text.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Truth(value) => value.fmt(f),
        }
    }
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange {
                name,
                kind,
                alternate,
            } => {
                write!(f, "exchange {name} ({kind}")?;
                if let Some(alternate) = alternate {
                    write!(f, ", alternate-exchange={alternate}")?;
                }
                f.write_str(")")
            }
            Self::Queue { name, arguments } => {
                write!(f, "queue {name} (quorum")?;
                for (argument, value) in arguments {
                    write!(f, ", {argument}={value}")?;
                }
                f.write_str(")")
            }
            Self::QueueBinding {
                exchange,
                queue,
                pattern,
            } => write!(f, "binding {exchange} -> queue {queue} ({pattern})"),
            Self::ExchangeBinding {
                exchange,
                destination,
                pattern,
            } => write!(
                f,
                "binding {exchange} -> exchange {destination} ({pattern})"
            ),
        }
    }
}
