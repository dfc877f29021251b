use std::fmt;
use std::sync::Arc;

use nimbus_inbox_testing::{BrokerCall, BrokerOperation, BrokerPoint};
use nimbus_messaging::{Address, Envelope, SessionId, property};

use crate::event::Event;

/// What a process is about to do.
#[derive(Debug, Clone)]
pub(crate) enum Effect {
    /// A step at the broker or at its session store.
    Broker {
        operation: BrokerOperation,
        point: BrokerPoint,
        session: Option<SessionId>,
        message: Option<Arc<Envelope>>,
        to_resolver: bool,
    },
    /// A look into the inbox.
    Check,
    /// A record of this message id.
    Record(String),
    /// A handler ends.
    Handler(Event),
}

impl Effect {
    pub(crate) fn of(point: BrokerPoint, call: &BrokerCall) -> Self {
        Self::Broker {
            operation: call.operation,
            point,
            session: call.session.clone(),
            message: call.messages.first().cloned(),
            to_resolver: call.address == Address::RESOLVER,
        }
    }

    fn operation(&self) -> Option<BrokerOperation> {
        match self {
            Self::Broker { operation, .. } => Some(*operation),
            _ => None,
        }
    }

    /// It changes nothing, so that a crash before it equals one after the effect before it.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self, Self::Check)
            || matches!(
                self.operation(),
                Some(BrokerOperation::ReadState | BrokerOperation::ReadParked)
            )
    }

    /// It belongs to a lane as such and not to the processing of a message: a crash there equals
    /// one of an idle process.
    pub(crate) fn is_of_lane(&self) -> bool {
        use BrokerOperation as Op;
        matches!(
            self.operation(),
            Some(Op::Accept | Op::Receive | Op::ReceiveDeferred | Op::Renew | Op::Release)
        )
    }

    /// It belongs to the processing of a message, also where the lane does it.
    pub(crate) fn is_of_message(&self) -> bool {
        !self.is_of_lane() || self.operation() == Some(BrokerOperation::ReceiveDeferred)
    }

    /// It puts a message at the end of the endpoint's queue, so that it matters whether something
    /// else arrived before.
    pub(crate) fn enqueues(&self) -> bool {
        self.operation() == Some(BrokerOperation::Send)
            && !matches!(
                self,
                Self::Broker {
                    to_resolver: true,
                    ..
                }
            )
    }

    /// A crash just before it is told apart from all others.
    pub(crate) fn is_crash_point(&self) -> bool {
        !self.is_read() && !self.is_of_lane() && self.operation() != Some(BrokerOperation::Fence)
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broker {
                operation,
                point,
                session,
                message,
                to_resolver,
            } => {
                write!(f, "{operation:?}")?;
                if *point == BrokerPoint::Between {
                    f.write_str(" (second step)")?;
                }
                if let Some(message) = message {
                    let text = |name| message.properties.text(name).unwrap_or_default();
                    write!(
                        f,
                        " {} {}",
                        text(property::MESSAGE_TYPE),
                        text(property::EVENT_ID)
                    )?;
                }
                if *to_resolver {
                    f.write_str(" to the resolver")?;
                } else if let Some(session) = session {
                    write!(f, " in {session}")?;
                }
                Ok(())
            }
            Self::Check => f.write_str("check the inbox"),
            Self::Record(id) => write!(f, "record {}", short(id)),
            Self::Handler(event) => write!(f, "handler of {event}"),
        }
    }
}

/// Derived ids are long, and their beginning tells them apart.
pub(crate) fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}
