//! Rules of the workspace's shape that neither the compiler nor clippy knows.

mod direction;
mod files;
mod links;
mod metrics;
mod violation;

pub(crate) use violation::Violation;

use crate::workspace::{Package, Workspace, root};

/// Checks the whole workspace; empty means that every rule holds.
pub(crate) fn check() -> anyhow::Result<Vec<Violation>> {
    let workspace = Workspace::load()?;
    let mut violations = direction::check(&workspace, is_library);
    let libraries = workspace
        .packages
        .iter()
        .filter(|package| is_library(package));
    for package in libraries {
        violations.extend(files::check(package)?);
    }
    violations.extend(links::check(root())?);
    violations.extend(metrics::check(root())?);
    Ok(violations)
}

/// A package that users may depend on, as opposed to a tool or a test package.
fn is_library(package: &Package) -> bool {
    package.manifest_path.starts_with(root().join("crates"))
}
