//! The types of settings that come from a configuration file or the environment (SUB-32).
//!
//! A provider's settings are a struct that derives `serde::Deserialize`; each field of one of these
//! types tells whoever loads a configuration how to treat the key: that it takes a duration in
//! words, that a path is relative to the file, or that a secret may only come from the environment.

mod file_path;
mod human_duration;
mod secret;
mod text;

pub use file_path::FilePath;
pub use human_duration::{HumanDuration, ParseDurationError};
pub use secret::Secret;
