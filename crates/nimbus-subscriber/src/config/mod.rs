//! Configuration from a TOML file and the environment (SUB-32).

mod configuration;
mod keys;
mod known;
mod load;
mod nearest;
mod problem;
mod providers;
mod sections;
mod setting;
mod source;
mod subscriber;
mod typed;

pub use configuration::Configuration;
pub use providers::Providers;
pub use setting::Setting;

/// What the names of our variables begin with.
const PREFIX: &str = "NIMBUS__";
