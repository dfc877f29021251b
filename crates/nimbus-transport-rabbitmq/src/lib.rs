#![doc = include_str!("../README.md")]

mod connection;
mod error;
mod lanes;
mod message;
mod options;
mod send;
#[cfg(feature = "config")]
mod settings;
mod shared;
mod topology;
mod transport;

pub use connection::RabbitMqConnection;
pub use options::RabbitMqOptions;
#[cfg(feature = "config")]
pub use settings::RabbitMqSettings;
pub use topology::{Declaration, Topology};
pub use transport::RabbitMqTransport;
