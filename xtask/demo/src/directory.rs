//! Where the queue, the inbox, the ledger and the consumer's log are while the run lasts.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;

use crate::consumer;

/// How many of the log's last lines a failed run shows.
const LOG_LINES: usize = 15;

/// How many characters of each.
const LINE_LENGTH: usize = 200;

/// A temporary directory, removed when it is dropped.
pub(crate) struct Directory(TempDir);

impl Directory {
    pub(crate) fn new() -> anyhow::Result<Self> {
        tempfile::Builder::new()
            .prefix("nimbus-demo-")
            .tempdir()
            .map(Self)
            .with_context(|| {
                format!(
                    "can't make a directory for the databases in {}; set TMPDIR to a place that \
                     can be written",
                    std::env::temp_dir().display()
                )
            })
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Leaves it in place if so wanted, and says where.
    pub(crate) fn keep_if(self, keep: bool) -> Option<PathBuf> {
        keep.then(|| self.0.keep())
    }

    /// Leaves it in place for whoever looks into a failure, and says where and what the consumer
    /// logged last.
    pub(crate) fn keep_for_inquiry(self) -> String {
        let directory = self.0.keep();
        let log = consumer::log_path(&directory);
        let text = fs::read(&log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let last: Vec<String> = lines[lines.len().saturating_sub(LOG_LINES)..]
            .iter()
            .map(|line| line.chars().take(LINE_LENGTH).collect())
            .collect();
        let last = last.join("\n  ");
        format!(
            "The databases stay in {}. The last lines of {}:\n  {last}",
            directory.display(),
            log.display()
        )
    }
}
