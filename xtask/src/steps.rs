//! Steps of a longer command: each is announced, timed, and remembered if it fails.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context;

/// What came of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    /// Not run, for the reason given; neither a success nor a failure.
    NotRun(&'static str),
}

impl From<bool> for Outcome {
    fn from(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

/// The steps run so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    failed: Vec<&'static str>,
}

impl Steps {
    /// Runs a step. An error is a failure of the step, not of the steps after it.
    pub(crate) fn run(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> anyhow::Result<Outcome>,
    ) {
        println!("==> {name}");
        let start = Instant::now();
        let outcome = work().unwrap_or_else(|error| {
            println!("{error:#}");
            Outcome::Failed
        });
        let took = seconds(start.elapsed());
        match outcome {
            Outcome::Passed => println!("<== {name}: passed in {took}\n"),
            Outcome::NotRun(reason) => println!("<== {name}: not run, {reason}\n"),
            Outcome::Failed => {
                println!("<== {name}: FAILED in {took}\n");
                self.failed.push(name);
            }
        }
    }

    pub(crate) fn failed(&self) -> &[&'static str] {
        &self.failed
    }
}

/// A command whose exit code is the outcome of a step.
pub(crate) fn outcome_of(mut command: Command) -> anyhow::Result<Outcome> {
    let status = command
        .status()
        .with_context(|| format!("could not start {}", command.get_program().display()))?;
    Ok(status.success().into())
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn failures_and_errors_are_remembered_and_the_rest_is_not() {
        let mut steps = Steps::default();
        steps.run("format", || Ok(Outcome::Passed));
        steps.run("clippy", || Ok(Outcome::Failed));
        steps.run("dependencies", || Ok(Outcome::NotRun("not installed")));
        steps.run("tests", || Err(anyhow!("no such file")));
        assert_eq!(steps.failed(), ["clippy", "tests"]);
    }
}
