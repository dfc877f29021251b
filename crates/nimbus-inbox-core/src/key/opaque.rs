//! What the two halves of a key have in common: opaque, byte-exact, bounded text (INB-01, INB-03).

/// Defines a validated text; see the limits.
macro_rules! opaque_text {
    ($(#[$doc:meta])* $name:ident, at most $limit:literal UTF-16 code units) => {
        $(#[$doc])*
        ///
        /// Opaque and byte-exact: values that differ by case, white space, Unicode normalisation
        /// or a NUL are different (INB-01). Between 1 and
        #[doc = concat!(stringify!($limit), " UTF-16 code units, not only white space (INB-03).")]
        /// Cloning shares the text.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// The longest allowed value, in UTF-16 code units.
            pub const MAX_UTF16_UNITS: usize = $limit;

            /// Checks `value` and keeps it unchanged.
            ///
            /// # Errors
            ///
            /// [`UnusableId`](crate::UnusableId) when the value is empty, blank or too long.
            pub fn new(value: impl AsRef<str>) -> Result<Self, $crate::UnusableId> {
                let value = value.as_ref();
                super::limits::validate(value, Self::MAX_UTF16_UNITS)?;
                Ok(Self(value.into()))
            }

            /// The value as it was given.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnusableId;

            fn from_str(value: &str) -> Result<Self, Self::Err> {
                Self::new(value)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = $crate::UnusableId;

            fn try_from(value: &str) -> Result<Self, Self::Error> {
                Self::new(value)
            }
        }
    };
}

pub(super) use opaque_text;
