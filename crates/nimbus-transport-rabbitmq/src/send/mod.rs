//! Sending, and sending later.

mod publisher;
mod sender;

pub(crate) use publisher::Publisher;
pub(crate) use sender::{RabbitMqSender, delayed};
