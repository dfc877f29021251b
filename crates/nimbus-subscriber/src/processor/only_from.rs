use nimbus_messaging::Address;

use super::{Interruption, Received};

/// Refuses a command that does not come from operators: it can end a block, so nobody else may
/// give it (SUB-12, SUB-13, SUB-15).
pub(super) fn manager_only(message: &Received) -> Result<(), Interruption> {
    only_from(message, "NotFromManager", &[Address::MANAGER])
}

/// Refuses a message of another sender than these.
pub(super) fn only_from(
    message: &Received,
    reason: &'static str,
    senders: &[Address],
) -> Result<(), Interruption> {
    let headers = &message.headers;
    if headers
        .from
        .as_ref()
        .is_some_and(|from| senders.contains(from))
    {
        return Ok(());
    }
    let from = headers.from.as_ref().map_or("nobody", Address::as_str);
    let shown: String = from.chars().take(64).collect();
    let senders: Vec<_> = senders.iter().map(Address::as_str).collect();
    Err(Interruption::Rejected {
        reason,
        description: format!(
            "a {} is taken only from {}, and this one is from {shown:?}",
            headers.message_type,
            senders.join(" or "),
        ),
    })
}
