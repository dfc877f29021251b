//! CloudEvents 1.0 as events of this endpoint (SUB-06): one translation, where a delivery is read.
//! Everything behind it knows native messages only.

mod content_mode;
mod mapping;
mod problems;
mod refusal;
mod source;
mod translation;

pub use content_mode::ContentMode;
pub use mapping::{CloudEventMapping, EventTypeRule};
pub use source::AttributeSource;

pub(crate) use translation::{CloudEvents, Translated};
