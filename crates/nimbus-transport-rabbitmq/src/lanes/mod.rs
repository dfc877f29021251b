//! Receiving: one lane for each partition whose single active consumer this process is.

mod consumer;
mod held;
mod lane;
mod settler;
mod source;

pub(crate) use source::RabbitMqLanes;
