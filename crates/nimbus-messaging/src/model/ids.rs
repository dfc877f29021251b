use sha2::{Digest, Sha256};
use uuid::Uuid;

/// A message id derived from what it stands for: the same parts give the same id (SUB-34).
///
/// 64 lower-case hexadecimal digits, whatever the length of the parts. Each part is hashed with its
/// length in front, so no two lists of parts join into the same bytes.
#[must_use]
pub fn derived_message_id(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(part);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    digest
        .iter()
        .fold(String::with_capacity(64), |mut text, byte| {
            use std::fmt::Write;
            // Writing to a String can't fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// A fresh message id for a message that stands for nothing but itself.
#[must_use]
pub fn random_message_id() -> String {
    Uuid::new_v4().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-34: derived ids are at most 64 ASCII characters and never a concatenation.
    #[test]
    fn derived_ids_are_bounded_and_unambiguous() {
        let long = "x".repeat(10_000);
        let id = derived_message_id(&["retry", &long, "1"]);
        assert_eq!(id.len(), 64);
        assert!(id.is_ascii());
        assert_eq!(id, derived_message_id(&["retry", &long, "1"]));
        assert_ne!(
            derived_message_id(&["ab", "c"]),
            derived_message_id(&["a", "bc"])
        );
        assert_ne!(derived_message_id(&["a", ""]), derived_message_id(&["a"]));
    }
}
