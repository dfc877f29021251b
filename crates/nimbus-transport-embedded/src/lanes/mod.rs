//! Accepting lanes and receiving from them.

mod lane;
mod lock;
mod name;
mod settler;
mod source;

pub(crate) use source::EmbeddedLanes;
