use nimbus_messaging::ErrorContent;

use super::only_from::manager_only;
use super::{Interruption, Received, Services};
use crate::session::HeldSession;

/// The error type of a failure that names none.
const ERROR_TYPE: &str = "HandoffFailed";

impl Services {
    /// HandoffFailedRequest: the external job could not do the event's work (SUB-15). The session
    /// stays blocked until an operator resubmits or skips the event.
    pub(super) async fn handoff_failed(
        &self,
        message: &mut Received,
        session: Option<&mut HeldSession>,
    ) -> Result<(), Interruption> {
        manager_only(message)?;
        let error = reported(message.read_error()?);
        message.keep_event();
        let message = &*message;
        let event_id = message.headers.event_id.as_ref();
        let (blocks, session) = match session {
            Some(session) => (
                session.state().await?.is_blocked_by(event_id),
                Some(session),
            ),
            None => (false, None),
        };
        if blocks {
            self.report_failure(message, &error, None).await?;
            self.tally.handoff_settled();
            return Ok(());
        }
        tracing::error!(
            endpoint = %self.endpoint,
            event_id = event_id.map(|id| id.as_str()),
            session_id = message.headers.session_id.as_deref(),
            error_text = error.error_text.as_deref(),
            "an external job is reported as failed, and its event does not block its session any \
             more; nothing is changed. Look at what became of the event"
        );
        self.release(session, false).await
    }
}

/// The operator's words as they are (SUB-15).
fn reported(told: Option<ErrorContent>) -> ErrorContent {
    let told = told.unwrap_or_default();
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    ErrorContent {
        error_text: given(told.error_text)
            .or_else(|| Some("the external job failed; the operator gave no reason".to_owned())),
        error_type: given(told.error_type).or_else(|| Some(ERROR_TYPE.to_owned())),
        ..ErrorContent::default()
    }
}
