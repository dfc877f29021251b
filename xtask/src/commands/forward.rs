//! Hands a command over to the workspace package that does the work.

use std::ffi::OsString;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, bail};

use crate::workspace;

/// The optimisation a package runs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    /// Builds fast; dependencies are optimised all the same.
    Dev,
    Release,
}

/// Builds `package`, then runs it in the caller's directory with `arguments`.
///
/// The two steps are apart so that a first build, which takes minutes, shows
/// its progress, while the run itself prints nothing but the package's output.
pub(super) fn run(
    package: &str,
    profile: Profile,
    arguments: &[OsString],
) -> anyhow::Result<ExitCode> {
    build(package, profile)?;
    let mut run = cargo("run", package, profile);
    run.arg("--quiet").arg("--").args(arguments);
    Ok(exit_code(start(run)?))
}

/// Builds `package` where the build of another finds it.
pub(super) fn build(package: &str, profile: Profile) -> anyhow::Result<()> {
    let built = start(cargo("build", package, profile))?;
    if !built.success() {
        bail!("`{package}` could not be built (see above)");
    }
    Ok(())
}

fn cargo(action: &str, package: &str, profile: Profile) -> Command {
    let mut command = workspace::cargo_here();
    command.arg(action).arg("--manifest-path");
    command.arg(workspace::root().join("Cargo.toml"));
    command.args(["--package", package]);
    if profile == Profile::Release {
        command.arg("--release");
    }
    command
}

fn start(mut command: Command) -> anyhow::Result<ExitStatus> {
    command
        .status()
        .with_context(|| format!("could not start {}", command.get_program().display()))
}

/// The child's own code, so that scripts can tell its failures apart. A child
/// ended by a signal has none.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments_of(command: &Command) -> Vec<String> {
        let arguments = command.get_args();
        arguments
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn only_the_release_profile_asks_for_release() {
        let dev = arguments_of(&cargo("run", "nimbus-demo", Profile::Dev));
        let release = arguments_of(&cargo("run", "nimbus-bench", Profile::Release));
        assert!(!dev.contains(&"--release".to_owned()), "{dev:?}");
        assert!(release.contains(&"--release".to_owned()), "{release:?}");
    }
}
