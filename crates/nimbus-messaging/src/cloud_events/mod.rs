//! CloudEvents 1.0: the JSON format, its batches, and attributes in application properties (SUB-06).

mod attributes;
mod batch;
mod binary;
mod data;
mod decode;
mod error;
mod event;
mod media_type;
mod structured;
mod text;
mod uri;

pub use attributes::is_attribute_name;
pub use data::CloudEventData;
pub use decode::CloudEventMode;
pub use error::{AttributeProblem, CloudEventFault, CloudEventIdentity, InvalidCloudEvent};
pub use event::CloudEvent;
