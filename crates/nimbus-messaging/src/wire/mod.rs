//! What travels: broker fields, application properties and a body, without meaning.

mod envelope;
mod properties;
pub mod property;

pub use envelope::Envelope;
pub use properties::{Properties, PropertyValue};
