use std::any::type_name;
use std::error::Error as StdError;
use std::fmt;

use nimbus_messaging::TransportError;

/// What becomes of a message whose handler failed (SUB-21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// Block the session, tell the resolver, try again as the retry policy says.
    Retry,
    /// No attempt can succeed: set the message aside for an operator.
    DeadLetter,
    /// The event is of no more use: report it as skipped and go on.
    Discard,
    /// Something outside is out of order: leave the message for redelivery, report nothing.
    Transient,
}

/// A handler's failure.
///
/// `?` turns any error into one that the subscriber's classifier judges; the constructors make one
/// that is already classified. Like `anyhow::Error` it does not implement [`std::error::Error`]
/// itself, which is what makes `?` possible.
pub struct HandlerError {
    class: Option<FailureClass>,
    error_type: String,
    text: String,
}

impl HandlerError {
    /// A failure with a text of its own, left to the classifier.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            class: None,
            error_type: "HandlerError".to_owned(),
            text: text.into(),
        }
    }

    /// A failure worth a retry.
    #[must_use]
    pub fn retry(text: impl Into<String>) -> Self {
        Self::new(text).with_class(FailureClass::Retry)
    }

    /// A failure that no attempt can mend.
    #[must_use]
    pub fn dead_letter(text: impl Into<String>) -> Self {
        Self::new(text).with_class(FailureClass::DeadLetter)
    }

    /// An event that is of no more use.
    #[must_use]
    pub fn discard(text: impl Into<String>) -> Self {
        Self::new(text).with_class(FailureClass::Discard)
    }

    /// An outage that says nothing about the event.
    #[must_use]
    pub fn transient(text: impl Into<String>) -> Self {
        Self::new(text).with_class(FailureClass::Transient)
    }

    /// Classifies it, whatever the classifier would say.
    #[must_use]
    pub fn with_class(mut self, class: FailureClass) -> Self {
        self.class = Some(class);
        self
    }

    /// Names the kind of error, for operators and error rules.
    #[must_use]
    pub fn with_type(mut self, error_type: impl Into<String>) -> Self {
        self.error_type = error_type.into();
        self
    }

    /// The class the handler chose, if it did.
    #[must_use]
    pub fn class(&self) -> Option<FailureClass> {
        self.class
    }

    /// The kind of error, such as its type name.
    #[must_use]
    pub fn error_type(&self) -> &str {
        &self.error_type
    }

    /// What happened, for the operator.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<E: StdError + 'static> From<E> for HandlerError {
    /// Keeps the error's type name and its text with those of its sources.
    ///
    /// Where one of them is a passing failure of an inbox or of a transport, it is
    /// [`Transient`](FailureClass::Transient): it says nothing about the event.
    fn from(error: E) -> Self {
        let class = is_outage(&error).then_some(FailureClass::Transient);
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.contains(&cause_text) {
                text.push_str(": ");
                text.push_str(&cause_text);
            }
            source = cause.source();
        }
        Self {
            class,
            ..Self::new(text).with_type(type_name::<E>())
        }
    }
}

fn is_outage(error: &(dyn StdError + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|error| {
        let inbox = error.downcast_ref::<nimbus_inbox_core::Error>();
        let transport = error.downcast_ref::<TransportError>();
        inbox.is_some_and(nimbus_inbox_core::Error::is_transient)
            || transport.is_some_and(TransportError::is_transient)
    })
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error_type, self.text)
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerError")
            .field("class", &self.class)
            .field("error_type", &self.error_type)
            .field("text", &self.text)
            .finish()
    }
}
