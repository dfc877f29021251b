/// Why a message can't be read, however often it is delivered (SUB-03).
///
/// The text becomes the description of its dead-lettering; it never holds the payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedMessage {
    /// The body is empty where the message type needs one.
    #[error("the body is empty; a NimBus message carries JSON with EventContent")]
    EmptyBody,
    /// The body is not the JSON it should be.
    #[error("the body is not a NimBus message: {problem}")]
    Body {
        /// What is wrong and where, without the payload.
        problem: String,
    },
    /// Arrays and objects are nested too deeply.
    #[error("the JSON is nested more than {limit} levels deep")]
    TooDeep {
        /// The deepest nesting that is read.
        limit: usize,
    },
    /// An application property does not hold what its name says.
    #[error("the application property {name} is not {expected}")]
    Property {
        /// The property's name.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}
