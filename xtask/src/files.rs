//! The project's own files, build output left out.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Every file below `folder` whose name ends in `.extension`, in the order of their paths.
pub(crate) fn below(folder: &Path, extension: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let context = || format!("could not read the folder {}", folder.display());
    for entry in fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type().with_context(context)?.is_dir() {
            if name != "target" && !name.to_string_lossy().starts_with('.') {
                found.extend(below(&path, extension)?);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
