//! The one error of this crate.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use crate::classify;

/// What went wrong, as far as a caller can act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another connection held a lock for too long, the operation was
    /// interrupted, or the file system reported an I/O error. Worth a retry.
    Transient,
    /// The volume, or the page limit of [`with_max_pages`], is exhausted.
    ///
    /// [`with_max_pages`]: crate::OpenOptions::with_max_pages
    Full,
    /// The file or its volume can't be written.
    ReadOnly,
    /// The file can't be opened or created, or can't be put into WAL mode.
    CannotOpen,
    /// The path is empty, names an in-memory database or is a URI.
    InvalidPath,
    /// The file exists and is not a SQLite database.
    NotADatabase,
    /// The file is a SQLite database and it is damaged.
    Corrupt,
    /// The file carries the application id of another application.
    ForeignFile,
    /// A table that must exist doesn't.
    MissingTable,
    /// The file's tables are of another version than this software needs.
    SchemaVersion,
    /// The SQLite library that was linked has the WAL-reset corruption bug.
    OldLibrary,
    /// The database was closed.
    Closed,
    /// The closure panicked; what it had changed was rolled back.
    Panicked,
    /// A constraint of a table refused the change.
    Constraint,
    /// Anything else: a mistake in a statement, a value of an unexpected type.
    Other,
}

impl ErrorKind {
    /// What happened and what to do about it, for the person on call.
    fn explanation(self) -> &'static str {
        match self {
            Self::Transient => {
                "the database is busy or the file system reported an I/O error; try again, and if it \
                 repeats look for a process that holds a transaction open and at the health of the volume"
            }
            Self::Full => {
                "the disk is full or the page limit is reached; earlier data is intact, free space or \
                 raise the limit"
            }
            Self::ReadOnly => {
                "the file can't be written; check the permissions of the file and its directory, and \
                 whether the volume is mounted read-only"
            }
            Self::CannotOpen => {
                "the file can't be opened; check that the directory exists, that the path names a \
                 regular file and that this user may write both"
            }
            Self::InvalidPath => {
                "a durable store needs the plain path of a file on disk; in-memory databases, empty \
                 paths and URIs are refused"
            }
            Self::NotADatabase => {
                "the file is not a SQLite database and was left untouched; give the path of another file"
            }
            Self::Corrupt => {
                "the file is damaged; stop its users, keep a copy of it and its -wal file, and restore a \
                 backup or recover it with the sqlite3 tool's .recover"
            }
            Self::ForeignFile => {
                "the file belongs to another application and was left untouched; give the path of \
                 another file"
            }
            Self::MissingTable => {
                "a required table is missing; create it with the provider's schema or allow it to be \
                 created automatically"
            }
            Self::SchemaVersion => {
                "the tables are of another version than this software needs; run the version that made \
                 them, bring them up to date, or give the path of another file"
            }
            Self::OldLibrary => {
                "the linked SQLite can corrupt a file in WAL mode; link 3.51.3 or newer, 3.50.7 or 3.44.6"
            }
            Self::Closed => "the database was closed",
            Self::Panicked => {
                "the closure panicked and its changes were rolled back; this is a defect in the code \
                 that was called"
            }
            Self::Constraint => "a constraint of the table refused the change",
            Self::Other => "the statement failed",
        }
    }
}

/// An error of a [`Database`](crate::Database): what kind, in which file,
/// doing what.
///
/// Cheap to clone: everyone whose write shared a failed commit gets the same
/// error. The driver's error is the source; `Display` doesn't repeat it.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct SqliteError(Arc<Report>);

#[derive(Debug, thiserror::Error)]
#[error(
    "SQLite database {}: {operation} failed: {}{}{detail}",
    path.display(),
    kind.explanation(),
    if detail.is_empty() { "" } else { ": " }
)]
struct Report {
    kind: ErrorKind,
    operation: &'static str,
    path: Arc<Path>,
    detail: Cow<'static, str>,
    outcome_unknown: bool,
    #[source]
    source: Option<rusqlite::Error>,
}

impl SqliteError {
    pub(crate) fn new(kind: ErrorKind, operation: &'static str, path: &Arc<Path>) -> Self {
        Self(Arc::new(Report {
            kind,
            operation,
            path: Arc::clone(path),
            detail: Cow::Borrowed(""),
            outcome_unknown: false,
            source: None,
        }))
    }

    /// Classifies what the driver reported.
    pub(crate) fn from_driver(
        source: rusqlite::Error,
        operation: &'static str,
        path: &Arc<Path>,
    ) -> Self {
        let kind = classify::kind(&source);
        Self::new(kind, operation, path).edit(|report| report.source = Some(source))
    }

    pub(crate) fn with_detail(self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.edit(|report| report.detail = detail.into())
    }

    pub(crate) fn with_kind(self, kind: ErrorKind) -> Self {
        self.edit(|report| report.kind = kind)
    }

    pub(crate) fn with_unknown_outcome(self) -> Self {
        self.edit(|report| report.outcome_unknown = true)
    }

    /// Only called before the error is shared.
    fn edit(mut self, change: impl FnOnce(&mut Report)) -> Self {
        if let Some(report) = Arc::get_mut(&mut self.0) {
            change(report);
        }
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The database's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether the same call may succeed later without anybody's help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.0.kind == ErrorKind::Transient
    }

    /// Whether a person has to change something before the call can succeed:
    /// the path, the volume, the file, its schema or the library.
    #[must_use]
    pub fn is_configuration(&self) -> bool {
        match self.0.kind {
            ErrorKind::Full
            | ErrorKind::ReadOnly
            | ErrorKind::CannotOpen
            | ErrorKind::InvalidPath
            | ErrorKind::NotADatabase
            | ErrorKind::Corrupt
            | ErrorKind::ForeignFile
            | ErrorKind::MissingTable
            | ErrorKind::SchemaVersion
            | ErrorKind::OldLibrary => true,
            ErrorKind::Transient
            | ErrorKind::Closed
            | ErrorKind::Panicked
            | ErrorKind::Constraint
            | ErrorKind::Other => false,
        }
    }

    /// Whether the change may be in the file in spite of the error, because
    /// the commit itself reported a failure that leaves it open.
    ///
    /// Readers don't see such a change now; a recovery after a crash may bring
    /// it back. A caller that retries must tolerate that it is there.
    #[must_use]
    pub fn outcome_unknown(&self) -> bool {
        self.0.outcome_unknown
    }

    /// SQLite's extended result code, where SQLite reported the error.
    #[must_use]
    pub fn extended_code(&self) -> Option<i32> {
        self.0.source.as_ref().and_then(classify::extended_code)
    }
}
