use nimbus_inbox_core::MessageId;

/// Joins the parts; no part may hold it.
const SEPARATOR: char = ':';

/// Why parts make no message id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransitionIdError {
    /// A part is empty or blank: two transitions would get one id.
    #[error("the {part} is empty; every part of a message id must say something")]
    Empty {
        /// `workflow` or `transition`.
        part: &'static str,
    },
    /// A part holds the colon that joins them, so that other parts could make the same id.
    #[error(
        "the {part} holds a colon, which separates the parts; other parts could join to this id"
    )]
    Ambiguous {
        /// `workflow` or `transition`.
        part: &'static str,
    },
    /// The id is longer than an inbox takes: 512 UTF-16 code units.
    #[error("the id has {units} UTF-16 code units, of which an inbox takes {limit}")]
    TooLong {
        /// Its length in UTF-16 code units.
        units: usize,
        /// The longest that is taken.
        limit: usize,
    },
}

/// The message id of one transition of a workflow, such as `order-42:capture-payment:1` (SUB-27).
///
/// A process manager that decides twice on the same transition sends the same id twice, and the
/// receiver's inbox skips the second. Raise `version` where the transition is meant anew: when a
/// cancelled payment is captured again, it is the second capture.
///
/// ```
/// use nimbus_messaging::transition_message_id;
///
/// let id = transition_message_id("order-42", "capture-payment", 1)?;
/// assert_eq!(id, "order-42:capture-payment:1");
/// # Ok::<(), nimbus_messaging::TransitionIdError>(())
/// ```
///
/// # Errors
///
/// [`TransitionIdError`] when a part is empty or holds a colon, or the id is too long for an inbox.
pub fn transition_message_id(
    workflow: &str,
    transition: &str,
    version: u64,
) -> Result<String, TransitionIdError> {
    check("workflow", workflow)?;
    check("transition", transition)?;
    let id = format!("{workflow}{SEPARATOR}{transition}{SEPARATOR}{version}");
    let units = id.encode_utf16().count();
    if units > MessageId::MAX_UTF16_UNITS {
        return Err(TransitionIdError::TooLong {
            units,
            limit: MessageId::MAX_UTF16_UNITS,
        });
    }
    Ok(id)
}

fn check(part: &'static str, text: &str) -> Result<(), TransitionIdError> {
    if text.trim().is_empty() {
        return Err(TransitionIdError::Empty { part });
    }
    if text.contains(SEPARATOR) {
        return Err(TransitionIdError::Ambiguous { part });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-27: the same transition has the same id, and another has another.
    #[test]
    fn ids_say_workflow_transition_and_version() {
        let id = transition_message_id("order-42", "capture-payment", 1);
        assert_eq!(id.as_deref(), Ok("order-42:capture-payment:1"));
        let next = transition_message_id("order-42", "capture-payment", 2);
        assert_eq!(next.as_deref(), Ok("order-42:capture-payment:2"));
    }

    /// SUB-27: a part that says nothing is refused, whichever it is.
    #[test]
    fn empty_parts_are_refused() {
        for nothing in ["", " ", "\t\n"] {
            let part = "workflow";
            let refused = transition_message_id(nothing, "capture-payment", 1);
            assert_eq!(refused, Err(TransitionIdError::Empty { part }));
            let part = "transition";
            let refused = transition_message_id("order-42", nothing, 1);
            assert_eq!(refused, Err(TransitionIdError::Empty { part }));
        }
    }

    /// SUB-27: no two lists of parts join to one id.
    #[test]
    fn parts_with_the_separator_are_refused() {
        let part = "workflow";
        let refused = transition_message_id("order:42", "capture", 1);
        assert_eq!(refused, Err(TransitionIdError::Ambiguous { part }));
        let part = "transition";
        let refused = transition_message_id("order", "42:capture", 1);
        assert_eq!(refused, Err(TransitionIdError::Ambiguous { part }));
    }

    /// SUB-27, INB-03: an id is no longer than an inbox takes, in UTF-16 code units.
    #[test]
    fn ids_fit_an_inbox() {
        // "€" is three bytes and one unit, "😀" four bytes and two units.
        let fits = format!("{}😀", "€".repeat(506));
        let id = transition_message_id(&fits, "t", 1).unwrap_or_default();
        assert_eq!(id.encode_utf16().count(), 512);
        assert!(MessageId::new(&id).is_ok());
        let refused = transition_message_id(&format!("{fits}x"), "t", 1);
        let (units, limit) = (513, 512);
        assert_eq!(refused, Err(TransitionIdError::TooLong { units, limit }));
    }
}
