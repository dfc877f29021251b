//! Ids as text that PostgreSQL can hold.

use std::borrow::Cow;

/// `id` with NUL written as `\0` and a backslash as `\\`.
///
/// The purge tells endpoints apart by this text, so no two ids may share one; that is why the
/// backslash can't stay as it is.
pub(crate) fn stored(id: &str) -> Cow<'_, str> {
    if id.contains(['\0', '\\']) {
        Cow::Owned(id.replace('\\', "\\\\").replace('\0', "\\0"))
    } else {
        Cow::Borrowed(id)
    }
}

/// The id that is written as `text`.
#[cfg(feature = "sessions")]
pub(crate) fn original(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut id = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        id.push(match character {
            '\\' => match characters.next() {
                Some('0') => '\0',
                // Only our own texts are read, so it is another backslash.
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    Cow::Owned(id)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// INB-01
    #[test]
    fn every_id_has_a_text_of_its_own_without_nul() {
        let parts = ["\0", "\\", "0", "a", "\\0", "\\\\"];
        let mut ids = HashSet::new();
        for one in parts {
            for two in parts {
                for three in parts {
                    ids.insert(format!("{one}{two}{three}"));
                }
            }
        }
        let texts: HashSet<_> = ids.iter().map(|id| stored(id)).collect();
        assert_eq!(texts.len(), ids.len());
        assert!(texts.iter().all(|text| !text.contains('\0')));
        #[cfg(feature = "sessions")]
        for id in &ids {
            assert_eq!(original(&stored(id)), *id);
        }
        assert_eq!(stored("order-42"), "order-42");
    }
}
