//! Rows to insert, and what became of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use nimbus_inbox_core::{InboxKey, Recorded};

use crate::text::stored;

/// One row for each distinct key, as columns.
///
/// Whatever the order of the keys, rows go in in the order of their hashes, so that two calls with
/// common keys can't each wait for the other.
pub(crate) struct Entries<'k> {
    pub(crate) hashes: Vec<&'k [u8]>,
    pub(crate) endpoints: Vec<Cow<'k, str>>,
    pub(crate) messages: Vec<Cow<'k, str>>,
}

impl<'k> Entries<'k> {
    pub(crate) fn of(keys: &'k [InboxKey]) -> Self {
        let distinct: BTreeMap<&[u8], &InboxKey> = keys
            .iter()
            .map(|key| (key.identity().as_bytes().as_slice(), key))
            .collect();
        let texts =
            |of: fn(&InboxKey) -> &str| distinct.values().map(|key| stored(of(key))).collect();
        Self {
            hashes: distinct.keys().copied().collect(),
            endpoints: texts(|key| key.endpoint().as_str()),
            messages: texts(|key| key.message_id().as_str()),
        }
    }
}

/// The answer for each key, when rows of these hashes were created. A key that stands twice was
/// recorded by its first occurrence.
pub(crate) fn recorded(keys: &[InboxKey], mut created: HashSet<&[u8]>) -> Vec<Recorded> {
    let answers = keys.iter().map(|key| {
        if created.remove(key.identity().as_bytes().as_slice()) {
            Recorded::Now
        } else {
            Recorded::Already
        }
    });
    answers.collect()
}
