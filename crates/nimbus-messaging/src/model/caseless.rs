//! Names that a .NET peer compares without regard to ASCII case (SUB-04).

/// Defines a name whose equality and hash ignore ASCII case.
macro_rules! caseless_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(std::borrow::Cow<'static, str>);

        impl $name {
            /// A name that is known at compile time.
            #[must_use]
            pub const fn from_static(name: &'static str) -> Self {
                Self(std::borrow::Cow::Borrowed(name))
            }

            /// Wraps a name as it is.
            #[must_use]
            pub fn new(name: impl Into<String>) -> Self {
                Self(std::borrow::Cow::Owned(name.into()))
            }

            /// The name as it was given.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0.eq_ignore_ascii_case(&other.0)
            }
        }

        impl Eq for $name {}

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                for byte in self.0.bytes() {
                    state.write_u8(byte.to_ascii_lowercase());
                }
                state.write_u8(0xff);
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                Self::new(name)
            }
        }

        impl From<String> for $name {
            fn from(name: String) -> Self {
                Self::new(name)
            }
        }
    };
}

pub(super) use caseless_name;
