//! The workspace that xtask works on: where it is and what `cargo` says it holds.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde::Deserialize;

/// What `cargo metadata --no-deps` reports, as far as xtask reads it.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// The version requirement; `*` where the manifest gives only a path.
    pub(crate) req: String,
    #[serde(default)]
    pub(crate) kind: DependencyKind,
    pub(crate) optional: bool,
}

/// `cargo` writes `null` for a normal dependency.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<KnownKind>")]
pub(crate) enum DependencyKind {
    #[default]
    Normal,
    Dev,
    Build,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum KnownKind {
    Dev,
    Build,
}

impl From<Option<KnownKind>> for DependencyKind {
    fn from(kind: Option<KnownKind>) -> Self {
        match kind {
            None => Self::Normal,
            Some(KnownKind::Dev) => Self::Dev,
            Some(KnownKind::Build) => Self::Build,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) doctest: bool,
}

impl Workspace {
    /// Asks `cargo` for the members of the workspace.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let output = cargo()
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .stderr(Stdio::inherit())
            .output()
            .context("could not start `cargo metadata`")?;
        if !output.status.success() {
            bail!("`cargo metadata` failed: a manifest of the workspace can't be read (see above)");
        }
        serde_json::from_slice(&output.stdout)
            .context("`cargo metadata` answered in a form this xtask doesn't know")
    }

    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

impl Package {
    pub(crate) fn has_doc_tests(&self) -> bool {
        self.targets.iter().any(|target| target.doctest)
    }

    /// The directory that holds the package's manifest.
    pub(crate) fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("."))
    }
}

/// The root of the workspace, whatever directory xtask was started in.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// The `cargo` that started xtask, set to work at the root of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = cargo_here();
    command.current_dir(root());
    command
}

/// The `cargo` that started xtask, in the caller's own directory: for commands
/// whose arguments may hold relative paths.
pub(crate) fn cargo_here() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Whether `cargo` has the named subcommand, e.g. `nextest`.
pub(crate) fn has_subcommand(name: &str) -> bool {
    cargo()
        .args([name, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependency_kinds_are_read_as_cargo_writes_them() {
        let read = |text| serde_json::from_str::<DependencyKind>(text).unwrap();
        assert_eq!(read("null"), DependencyKind::Normal);
        assert_eq!(read("\"dev\""), DependencyKind::Dev);
        assert_eq!(read("\"build\""), DependencyKind::Build);
    }

    #[test]
    fn the_workspace_holds_xtask_and_its_directory() {
        let workspace = Workspace::load().unwrap();
        let xtask = workspace.package("xtask").unwrap();
        assert_eq!(xtask.directory(), root().join("xtask"));
        assert!(!xtask.has_doc_tests());
    }
}
