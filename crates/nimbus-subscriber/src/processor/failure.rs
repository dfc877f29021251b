use nimbus_messaging::ErrorContent;

use super::schedule_retry::PlannedRetry;
use super::{Interruption, Received, Services};
use crate::handler::Handoff;
use crate::responder::{Outcome, cut};

/// A handler's failure as it is stored and sent: a text of any length must fit a message.
pub(super) fn error_content(error_type: &str, text: &str) -> ErrorContent {
    ErrorContent {
        error_type: Some(cut(error_type).to_owned()),
        error_text: Some(cut(text).to_owned()),
        ..ErrorContent::default()
    }
}

impl Services {
    /// Tells the resolver that the handler failed, and whether the event is tried again.
    pub(super) async fn report_failure(
        &self,
        message: &Received,
        error: &ErrorContent,
        retry: Option<PlannedRetry>,
    ) -> Result<(), Interruption> {
        self.responder
            .send(
                message.about(),
                Outcome::Failed {
                    error_type: error.error_type.clone().unwrap_or_default(),
                    text: error.error_text.clone().unwrap_or_default(),
                    next_retry_at: retry.map(|retry| retry.due),
                },
            )
            .await
    }

    /// Tells the resolver that the work goes on outside.
    pub(super) async fn report_handoff(
        &self,
        message: &Received,
        handoff: Handoff,
    ) -> Result<(), Interruption> {
        self.tally.handed_off();
        self.responder
            .send(message.about(), Outcome::PendingHandoff(handoff))
            .await
    }
}
