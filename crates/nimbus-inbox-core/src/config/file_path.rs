use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer};

use super::text;

/// The path of a file. One that is not absolute is relative to the directory of the configuration
/// file, so that every program that reads the configuration means the same file by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(PathBuf);

impl FilePath {
    /// The name under which it asks a deserializer for its text.
    pub const NAME: &'static str = "nimbus::FilePath";
}

impl AsRef<Path> for FilePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl From<PathBuf> for FilePath {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text::deserialize(deserializer, Self::NAME, "the path of a file", |text| {
            if text.is_empty() {
                return Err("it is empty; name a file".to_owned());
            }
            Ok(Self(text.into()))
        })
    }
}
