//! A text behind the name of the type that asks for it.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error, Visitor};

/// Reads a text as `T`, under the name by which a loader recognises the type of the key.
pub(super) fn deserialize<'de, D, T>(
    deserializer: D,
    name: &'static str,
    expected: &'static str,
    read: fn(&str) -> Result<T, String>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
{
    deserializer.deserialize_newtype_struct(
        name,
        Text {
            expected,
            read,
            result: PhantomData,
        },
    )
}

struct Text<T> {
    expected: &'static str,
    read: fn(&str) -> Result<T, String>,
    result: PhantomData<T>,
}

impl<'de, T> Visitor<'de> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<T, D::Error> {
        inner.deserialize_str(self)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }
}
