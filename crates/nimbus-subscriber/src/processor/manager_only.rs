use nimbus_messaging::Address;

use super::{Interruption, Received};

/// Refuses a command that does not come from operators: it can end a block, so nobody else may
/// give it (SUB-12, SUB-13, SUB-15).
pub(super) fn manager_only(message: &Received) -> Result<(), Interruption> {
    let headers = &message.headers;
    if headers.from == Some(Address::MANAGER) {
        return Ok(());
    }
    let from = headers.from.as_ref().map_or("nobody", Address::as_str);
    let shown: String = from.chars().take(64).collect();
    Err(Interruption::Rejected {
        reason: "NotFromManager",
        description: format!(
            "a {} is taken only from {}, and this one is from {shown:?}",
            headers.message_type,
            Address::MANAGER,
        ),
    })
}
