//! Messages as RabbitMQ carries them.

mod decode;
mod encode;
mod headers;
mod limits;

pub(crate) use decode::{Incoming, decode};
pub(crate) use encode::{Outgoing, encode, encode_again, with_reason};
pub(crate) use limits::Limits;
