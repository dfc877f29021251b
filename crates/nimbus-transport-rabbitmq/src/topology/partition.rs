use sha2::{Digest, Sha256};

/// Bits of a routing key, each a word of its own: `0.1.1.0.0.1.0.1`.
pub(crate) const BITS: u32 = 8;

/// The routing key of a session. It does not depend on how many partitions the receiver has:
/// its bindings look at the last words only, so that senders need not know.
pub(crate) fn session_key(session: &str) -> String {
    key(bucket(session))
}

/// A routing key for a message that belongs to no session.
pub(crate) fn random_key() -> String {
    key(fastrand::u8(..))
}

/// The partition of a session.
pub(crate) fn partition_of(session: &str, partitions: u16) -> u16 {
    u16::from(bucket(session)) % partitions.max(1)
}

/// The keys that go to a partition, as a pattern of a topic exchange. What comes down the ladder
/// has the ladder's words before these.
pub(super) fn pattern(partition: u16, partitions: u16) -> String {
    let bits = (0..partitions.trailing_zeros()).rev();
    let words = bits.map(|bit| match partition >> bit & 1 {
        1 => ".1",
        _ => ".0",
    });
    "#".to_owned() + &words.collect::<String>()
}

fn bucket(session: &str) -> u8 {
    Sha256::digest(session.as_bytes())[0]
}

fn key(bucket: u8) -> String {
    let words = (0..BITS).rev().map(|bit| match bucket >> bit & 1 {
        1 => "1",
        _ => "0",
    });
    words.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(pattern: &str, key: &str) -> bool {
        let end = pattern.strip_prefix('#').expect("it matches an end");
        format!(".{key}").ends_with(end)
    }

    /// SUB-33: whatever the number of partitions, a session's key matches exactly one of them, the
    /// one that a receiver computes.
    #[test]
    fn a_session_has_one_partition() {
        for partitions in (0..=BITS).map(|power| 1_u16 << power) {
            for session in 0..200 {
                let session = format!("session {session}");
                let key = session_key(&session);
                let matching: Vec<_> = (0..partitions)
                    .filter(|partition| is_match(&pattern(*partition, partitions), &key))
                    .collect();
                assert_eq!(matching, [partition_of(&session, partitions)]);
            }
        }
    }

    /// The keys are part of what programs of different versions agree on.
    #[test]
    fn keys_stay_what_they_are() {
        assert_eq!(session_key("order-42"), session_key("order-42"));
        assert_eq!(pattern(2, 4), "#.1.0");
        assert_eq!(pattern(0, 1), "#");
        assert_eq!(key(0b1000_0101), "1.0.0.0.0.1.0.1");
        assert_eq!(session_key("order-42").split('.').count(), 8);
    }
}
