//! What is wrong about requirements, in words for whoever has to mend it.

use std::fmt;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// A comment names a requirement that does not exist.
    Unknown {
        file: PathBuf,
        line: usize,
        name: String,
    },
    /// No test names the requirement.
    Unproved { name: &'static str },
    /// The page differs from what would be written now.
    Stale { page: PathBuf },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { file, line, name } => write!(
                f,
                "{}:{line}: names {name}, and there is no such requirement; mend the name, or give \
                 it a title in xtask/src/requirements/titles.rs",
                file.display()
            ),
            Self::Unproved { name } => write!(
                f,
                "{name}: no test proves it; write one whose doc comment begins with `{name}: `"
            ),
            Self::Stale { page } => write!(
                f,
                "{}: is not what the code says now; run `cargo xtask requirements` and commit it",
                page.display()
            ),
        }
    }
}
