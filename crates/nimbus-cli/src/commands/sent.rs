//! What is said of a command that was sent.

use nimbus_inbox_core::{Clock, SystemClock};
use nimbus_messaging::MessageType;
use nimbus_resolver::{EventKey, ResolverStore};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Table};

/// A command in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Sent {
    pub(crate) command: &'static str,
    pub(crate) endpoint: String,
    pub(crate) event_id: Option<String>,
    pub(crate) session_id: Option<String>,
    /// The id of the message that was sent, which every answer names as its parent.
    pub(crate) message_id: String,
}

#[derive(Serialize)]
struct SentView<'a> {
    sent: &'a [Sent],
}

/// Shows what was sent.
pub(crate) fn show(output: Output, sent: &[Sent]) -> Result<(), Failure> {
    output.show(&SentView { sent }, || {
        let mut table = Table::new(&["sent", "endpoint", "event", "session", "message"]);
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        for command in sent {
            table.row([
                command.command.to_owned(),
                command.endpoint.clone(),
                or_dash(&command.event_id),
                or_dash(&command.session_id),
                command.message_id.clone(),
            ]);
        }
        table.render()
    })
}

/// Notes a command at the resolver. It was sent whether or not that succeeds.
pub(crate) async fn note(
    store: &ResolverStore,
    event: &EventKey,
    command: MessageType,
    message_id: &str,
) {
    let now = SystemClock.now();
    let noted = store.note(event, command, message_id.to_owned(), now).await;
    if let Err(error) = noted {
        eprintln!(
            "warning: the {command} was sent, and could not be noted in the event's history: \
             {error}"
        );
    }
}
