//! The identity hash that every provider keys on (INB-02).

use std::fmt;

use sha2::{Digest, Sha256};

use super::limits::utf16_length;

/// The 32-byte identity of an (endpoint, message id) pair (INB-02).
///
/// SHA-256 of the UTF-8 bytes of `N` U+001F `endpoint` U+001F `message id`, where `N` is the
/// decimal count of UTF-16 code units in the endpoint. The count makes the joining unambiguous
/// whatever the parts contain. A .NET NimBus subscriber computes the same bytes, so the two can
/// share one table: this must stay bit-identical.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdentityHash([u8; 32]);

impl IdentityHash {
    /// Hashes a pair without judging its parts.
    ///
    /// Stores take an [`InboxKey`](crate::InboxKey), which cannot hold unusable parts; this is for
    /// tools that compare hashes.
    #[must_use]
    pub fn of(endpoint: &str, message_id: &str) -> Self {
        let mut hasher = Sha256::new();
        let mut digits = [0_u8; 20];
        hasher.update(decimal(utf16_length(endpoint), &mut digits));
        hasher.update([0x1f]);
        hasher.update(endpoint);
        hasher.update([0x1f]);
        hasher.update(message_id);
        Self(hasher.finalize().into())
    }

    /// The hash as bytes, the form that SQL stores key on.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Decimal digits of `number`, written from the end of `digits`.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        // The remainder of a division by ten is one digit.
        digits[start] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

/// 64 upper-case hexadecimal digits, the form that document stores use as an id.
impl fmt::Display for IdentityHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        for byte in self.0 {
            let pair = [byte >> 4, byte & 0x0f].map(|digit| char::from(DIGITS[usize::from(digit)]));
            write!(f, "{}{}", pair[0], pair[1])?;
        }
        Ok(())
    }
}

impl fmt::Debug for IdentityHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdentityHash({self})")
    }
}
