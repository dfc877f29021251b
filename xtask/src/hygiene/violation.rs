//! What a check found, in words for whoever has to mend it.

use std::fmt;
use std::path::PathBuf;

/// A rule that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A crate whose place among the others is not known.
    UnknownPlace { package: String },
    /// A dependency that the crate's place does not allow.
    WrongDirection { package: String, dependency: String },
    /// An allowed dependency that has to sit behind a feature.
    NotOptional { package: String, dependency: String },
    /// A dev-dependency on a crate of the workspace that names a version.
    VersionedDevDependency {
        package: String,
        dependency: String,
        version: String,
    },
    /// A crate without a README.md.
    NoReadme { package: String },
    /// A lib.rs that is more than a table of contents.
    LongLibrary { file: PathBuf, lines: usize },
    /// A page that links to a file which is not there.
    BrokenLink {
        page: PathBuf,
        line: usize,
        target: String,
    },
    /// A dashboard or alert that asks for a metric which the code doesn't have.
    UnknownMetric { file: PathBuf, metric: String },
}

/// Where the inbox names its metrics.
pub(super) const METRIC_NAMES: &str = "crates/nimbus-inbox-core/src/telemetry/mod.rs";

/// A lib.rs has fewer lines than this.
pub(super) const LIBRARY_LINES: usize = 60;

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPlace { package } => write!(
                f,
                "{package}: its place among the crates is unknown; name it nimbus-inbox-… \
                 (provider) or nimbus-transport-…, or give it a place in xtask/src/hygiene/direction.rs"
            ),
            Self::WrongDirection {
                package,
                dependency,
            } => write!(
                f,
                "{package}: must not depend on {dependency}; move what it needs to a crate that \
                 both may use, or to tests/"
            ),
            Self::NotOptional {
                package,
                dependency,
            } => write!(
                f,
                "{package}: depends on {dependency} for everybody; make it `optional = true` and \
                 part of the feature `sessions`"
            ),
            Self::VersionedDevDependency {
                package,
                dependency,
                version,
            } => write!(
                f,
                "{package}: dev-dependency {dependency} names version {version}; give only its \
                 path, else a published version can meet the one under test"
            ),
            Self::NoReadme { package } => {
                write!(f, "{package}: has no README.md, which is its documentation")
            }
            Self::LongLibrary { file, lines } => write!(
                f,
                "{}: {lines} lines; a lib.rs is a table of contents of fewer than {LIBRARY_LINES}, \
                 move items to modules",
                file.display()
            ),
            Self::BrokenLink { page, line, target } => write!(
                f,
                "{}:{line}: links to {target}, which is not there; mend the link or write the page",
                page.display()
            ),
            Self::UnknownMetric { file, metric } => write!(
                f,
                "{}: asks for {metric}, which the inbox does not report; its names are in {}",
                file.display(),
                METRIC_NAMES
            ),
        }
    }
}
