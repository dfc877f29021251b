use std::any::{TypeId, type_name};
use std::error::Error as StdError;
use std::fmt;

use nimbus_messaging::TransportError;

/// The kind of an error that names none.
const DEFAULT_TYPE: &str = "HandlerError";

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
#[derive(Clone)]
pub struct HandlerError {
    class: Option<FailureClass>,
    error_type: String,
    text: String,
    /// What a dead letter gives as its reason, where it is not that the handler failed.
    rejection: Option<&'static str>,
}

/// Any error, as the layers of `tower` pass it on.
pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

impl HandlerError {
    /// A failure with a text of its own, left to the classifier.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            class: None,
            error_type: DEFAULT_TYPE.to_owned(),
            text: text.into(),
            rejection: None,
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

    /// An event that its handler never saw, dead-lettered with a reason of its own.
    pub(crate) fn rejected(reason: &'static str, text: impl Into<String>) -> Self {
        Self {
            rejection: Some(reason),
            ..Self::dead_letter(text).with_type(reason)
        }
    }

    pub(crate) fn rejection(&self) -> Option<&'static str> {
        self.rejection
    }

    /// Classifies it, whatever the classifier would say.
    #[must_use]
    pub fn with_class(mut self, class: FailureClass) -> Self {
        self.class = Some(class);
        self.rejection = None;
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
        Self::described(&error, type_name::<E>())
    }
}

impl HandlerError {
    /// What a service made of middleware failed with. A handler's own error comes out as it went
    /// in, also where a layer has wrapped it.
    pub(crate) fn from_service<E: Into<BoxError> + 'static>(error: E) -> Self {
        let error: BoxError = error.into();
        let own = causes(&*error).find_map(|error| error.downcast_ref::<Boxed>());
        if let Some(Boxed(own)) = own {
            return own.clone();
        }
        // Of an error in a box the name of its type is lost.
        let known = TypeId::of::<E>() != TypeId::of::<BoxError>();
        let error_type = if known {
            type_name::<E>()
        } else {
            DEFAULT_TYPE
        };
        Self::described(&*error, error_type)
    }

    fn described(error: &(dyn StdError + 'static), error_type: &str) -> Self {
        let class = is_outage(error).then_some(FailureClass::Transient);
        let mut text = error.to_string();
        for cause in causes(error).skip(1) {
            let cause_text = cause.to_string();
            if !text.contains(&cause_text) {
                text.push_str(": ");
                text.push_str(&cause_text);
            }
        }
        Self {
            class,
            ..Self::new(text).with_type(error_type)
        }
    }
}

/// A handler's error on its way through layers that know only boxed errors.
#[derive(Debug)]
struct Boxed(HandlerError);

impl fmt::Display for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Boxed {}

impl From<HandlerError> for BoxError {
    /// So that it passes through the layers of `tower`.
    fn from(error: HandlerError) -> Self {
        Box::new(Boxed(error))
    }
}

/// An error and what caused it.
fn causes<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn is_outage(error: &(dyn StdError + 'static)) -> bool {
    causes(error).any(|error| {
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
