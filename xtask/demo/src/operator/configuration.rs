use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::queue::ENDPOINT;

/// Where the tool finds what it is told of the endpoint.
pub(super) fn path(directory: &Path) -> PathBuf {
    directory.join("billing.toml")
}

/// Writes the configuration of the demo's endpoint, as a service and its tool would share it. Files
/// are named from the configuration's own directory.
pub(super) fn write(directory: &Path) -> anyhow::Result<()> {
    let path = path(directory);
    let text = format!(
        "endpoint = \"{ENDPOINT}\"\n\n\
         [transport]\nname = \"embedded\"\npath = \"queue.db\"\nlock_duration = \"2s\"\n\n\
         [inbox]\nstore = \"sqlite\"\npath = \"inbox.db\"\n\n\
         [resolver]\ndatabase = \"resolver.db\"\n"
    );
    fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))
}
