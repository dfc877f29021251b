use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// The provider of an inbox store, as configuration names it (INB-30).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum InboxStoreKind {
    /// `sqlserver`
    SqlServer,
    /// `cosmos`
    Cosmos,
    /// `postgres`
    Postgres,
    /// `sqlite`
    Sqlite,
    /// `inmemory`
    InMemory,
    /// Any other name, for a provider from elsewhere.
    Custom(String),
}

impl InboxStoreKind {
    /// The name in configuration.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::SqlServer => "sqlserver",
            Self::Cosmos => "cosmos",
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
            Self::InMemory => "inmemory",
            Self::Custom(name) => name,
        }
    }

    /// The crate that provides it, where this project does.
    #[must_use]
    pub fn crate_name(&self) -> Option<&'static str> {
        match self {
            Self::SqlServer => Some("nimbus-inbox-sqlserver"),
            Self::Cosmos => Some("nimbus-inbox-cosmos"),
            Self::Postgres => Some("nimbus-inbox-postgres"),
            Self::Sqlite => Some("nimbus-inbox-sqlite"),
            Self::InMemory => Some("nimbus-inbox-testing"),
            Self::Custom(_) => None,
        }
    }
}

impl From<&str> for InboxStoreKind {
    /// The known names are read in any ASCII case; every other text is a custom name, kept as it
    /// is.
    fn from(name: &str) -> Self {
        [
            Self::SqlServer,
            Self::Cosmos,
            Self::Postgres,
            Self::Sqlite,
            Self::InMemory,
        ]
        .into_iter()
        .find(|kind| kind.as_str().eq_ignore_ascii_case(name))
        .unwrap_or_else(|| Self::Custom(name.to_owned()))
    }
}

impl FromStr for InboxStoreKind {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(name.into())
    }
}

impl fmt::Display for InboxStoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
