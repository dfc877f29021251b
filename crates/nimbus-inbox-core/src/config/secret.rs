use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::de::{Deserialize, Deserializer};

use super::text;

/// A password, token, or connection string that holds one.
///
/// It comes from the environment only: a configuration file that holds it is refused. It is shown
/// by nothing, and its memory is cleared when it is dropped.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// The name under which it asks a deserializer for its text.
    pub const NAME: &'static str = "nimbus::Secret";

    /// Keeps this secret.
    #[must_use]
    pub fn new(secret: impl Into<String>) -> Self {
        Self(SecretString::from(secret.into()))
    }

    /// The secret itself, for the driver that needs it. Don't put it into anything that is logged.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl From<SecretString> for Secret {
    fn from(secret: SecretString) -> Self {
        Self(secret)
    }
}

impl From<Secret> for SecretString {
    fn from(secret: Secret) -> Self {
        secret.0
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text::deserialize(deserializer, Self::NAME, "a secret text", |text| {
            Ok(Self::new(text))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-32: a secret is kept as it is and shown by nothing.
    #[test]
    fn a_secret_is_not_shown() {
        let secret: Secret = serde_json::from_str("\"hunter2\"").unwrap();
        assert_eq!(secret.expose(), "hunter2");
        assert_eq!(format!("{secret:?}"), "[secret]");
        let inner = SecretString::from(secret);
        assert!(!format!("{inner:?}").contains("hunter2"));
        assert_eq!(Secret::from(inner).expose(), "hunter2");
    }
}
