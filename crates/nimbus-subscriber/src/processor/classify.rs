use std::fmt::Debug;
use std::sync::Arc;

use crate::handler::{FailureClass, HandlerError};

/// Judges the failures that handlers left unclassified (SUB-21).
pub trait FailureClassifier: Send + Sync + 'static {
    /// A name for operators; it stands in the outcome of a discarded event.
    fn name(&self) -> &'static str;

    /// The class of a failure; `None` leaves it to the next classifier, and in the end to retry.
    fn classify(&self, event_type: &str, error: &HandlerError) -> Option<FailureClass>;
}

/// The classifiers of a subscriber, in order.
#[derive(Clone, Default)]
pub(crate) struct Classifiers(Vec<Arc<dyn FailureClassifier>>);

impl Classifiers {
    pub(crate) fn add(&mut self, classifier: Arc<dyn FailureClassifier>) {
        self.0.push(classifier);
    }

    /// The class, and who chose it. What the handler chose itself stands.
    pub(crate) fn classify(
        &self,
        event_type: &str,
        error: &HandlerError,
    ) -> (FailureClass, &'static str) {
        if let Some(class) = error.class() {
            return (class, "the handler");
        }
        self.0
            .iter()
            .find_map(|classifier| {
                let class = classifier.classify(event_type, error)?;
                Some((class, classifier.name()))
            })
            .unwrap_or((FailureClass::Retry, "default"))
    }
}

impl Debug for Classifiers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|classifier| classifier.name()))
            .finish()
    }
}
