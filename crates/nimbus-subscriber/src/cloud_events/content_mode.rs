use serde::{Deserialize, Serialize};

/// What events look like that an endpoint takes.
///
/// The project's own messages (retries, drains, what operators ask for, heartbeats) are native in
/// every mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ContentMode {
    /// Messages of NimBus. A CloudEvent is an unknown message.
    #[default]
    Native,
    /// CloudEvents 1.0, in structured or binary content mode. A native event is dead-lettered.
    CloudEvents,
    /// Both, told apart message by message.
    AutoDetect,
}
