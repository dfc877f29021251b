//! The endpoint half of a key.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::limits::{UnusableId, validate};

/// The configured name of one subscriber, e.g. `BillingEndpoint`.
///
/// Opaque and byte-exact: values that differ by case, white space, Unicode normalisation or a
/// NUL are different (INB-01). Between 1 and 260 UTF-16 code units, not only white space
/// (INB-03). Cloning shares the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(Arc<str>);

impl EndpointId {
    /// The longest allowed value, in UTF-16 code units.
    pub const MAX_UTF16_UNITS: usize = 260;

    /// Checks `value` and keeps it unchanged.
    ///
    /// # Errors
    ///
    /// [`UnusableId`] when the value is empty, blank or too long.
    pub fn new(value: impl AsRef<str>) -> Result<Self, UnusableId> {
        let value = value.as_ref();
        validate(value, Self::MAX_UTF16_UNITS)?;
        Ok(Self(value.into()))
    }

    /// The value as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for EndpointId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl FromStr for EndpointId {
    type Err = UnusableId;

    fn from_str(value: &str) -> Result<Self, Self::Err> {
        Self::new(value)
    }
}

impl TryFrom<&str> for EndpointId {
    type Error = UnusableId;

    fn try_from(value: &str) -> Result<Self, Self::Error> {
        Self::new(value)
    }
}
