use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;
use tokio::process::{Child, Command};

use super::configuration;
use crate::report::Narrator;

/// How long a command of the tool may take.
const LONGEST_COMMAND: Duration = Duration::from_secs(30);

/// How many lines of an answer are shown.
const SHOWN_LINES: usize = 16;

/// The `nimbus` program, as an operator runs it.
pub(crate) struct Tool<'a> {
    program: PathBuf,
    directory: &'a Path,
    narrator: &'a Narrator,
    commands: usize,
}

impl<'a> Tool<'a> {
    /// Finds the program beside the demo's own, where one build puts both, or builds it.
    pub(crate) async fn find(directory: &'a Path, narrator: &'a Narrator) -> anyhow::Result<Self> {
        let own = env::current_exe().context("can't find the demo's own program")?;
        let program = own.with_file_name(format!("nimbus{}", env::consts::EXE_SUFFIX));
        if !program.is_file() {
            narrator.say("building the `nimbus` tool");
            build(&program).await?;
        }
        Ok(Self {
            program,
            directory,
            narrator,
            commands: 0,
        })
    }

    /// Commands given so far.
    pub(super) fn commands(&self) -> usize {
        self.commands
    }

    /// Runs a command, shown as a user would type it, with the beginning of its answer.
    pub(super) async fn run(&mut self, arguments: &[&str]) -> anyhow::Result<()> {
        self.commands += 1;
        self.narrator.say(&format!("\n$ {}", typed(arguments)));
        let answer = self.answer(arguments).await?;
        let lines: Vec<&str> = answer.lines().collect();
        for line in lines.iter().take(SHOWN_LINES) {
            self.narrator.say(format!("  {line}").trim_end());
        }
        if lines.len() > SHOWN_LINES {
            let more = lines.len() - SHOWN_LINES;
            self.narrator.say(&format!("  … and {more} more lines"));
        }
        Ok(())
    }

    /// Asks for what only the demo itself wants to know.
    pub(super) async fn ask(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let arguments = [arguments, &["--json"]].concat();
        let answer = self.answer(&arguments).await?;
        serde_json::from_str(&answer)
            .with_context(|| format!("`{}` answered {answer:?}", typed(&arguments)))
    }

    /// Starts `nimbus resolver run`, which is killed when the answer is dropped: what it has taken is
    /// on the disk, and what it has not comes again.
    pub(super) fn resolver(&self) -> anyhow::Result<Child> {
        let log = self.directory.join("resolver.log");
        let file = || File::options().create(true).append(true).open(&log);
        let context = || format!("can't write the log {}", log.display());
        let mut command = self.command(&["resolver", "run"]);
        command
            .stdout(file().with_context(context)?)
            .stderr(file().with_context(context)?)
            .spawn()
            .with_context(|| format!("can't start {}", self.program.display()))
    }

    async fn answer(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let running = self.command(arguments).output();
        let Output {
            status,
            stdout,
            stderr,
        } = tokio::time::timeout(LONGEST_COMMAND, running)
            .await
            .with_context(|| format!("`{}` does not end", typed(arguments)))?
            .with_context(|| format!("can't start {}", self.program.display()))?;
        if !status.success() {
            bail!(
                "`{}` ended with {status}: {}",
                typed(arguments),
                String::from_utf8_lossy(&stderr).trim()
            );
        }
        Ok(String::from_utf8_lossy(&stdout).into_owned())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        // What the user's own environment says is about another endpoint.
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("NIMBUS") {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .env("NIMBUS_CONFIG", configuration::path(self.directory))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// A command as a user types it.
fn typed(arguments: &[&str]) -> String {
    let quoted = arguments.iter().map(|argument| {
        if argument.contains(|c: char| c.is_whitespace() || "'\"$&;".contains(c)) {
            format!("'{argument}'")
        } else {
            (*argument).to_owned()
        }
    });
    let words: Vec<String> = quoted.collect();
    format!("nimbus {}", words.join(" "))
}

/// Asks `cargo` for the program, where nothing has built it yet.
async fn build(program: &Path) -> anyhow::Result<()> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet", "--package", "nimbus-cli"])
        .arg("--manifest-path")
        .arg(manifest)
        .stdin(Stdio::null());
    // Standard output belongs to the report.
    let built = command.stdout(Stdio::null()).status().await;
    if !built.context("can't start cargo")?.success() || !program.is_file() {
        bail!(
            "the `nimbus` tool is not at {}; build it with `cargo build --package nimbus-cli`",
            program.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn commands_are_shown_as_they_are_typed() {
        assert_eq!(
            typed(&["resubmit", "order-1:a:1"]),
            "nimbus resubmit order-1:a:1"
        );
        let reason = typed(&["skip", "a", "--reason", "too late"]);
        assert_eq!(reason, "nimbus skip a --reason 'too late'");
    }
}
