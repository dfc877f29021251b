//! `cargo xtask ci`: what a change has to pass.

use std::process::{Command, ExitCode};

use super::{ddl, requirements, test};
use crate::steps::{Outcome, Steps, outcome_of};
use crate::testing::{self, Selection, Service, Tally};
use crate::{hygiene, workspace};

/// Check format, structure, requirements, lints, documentation, dependencies
/// and offline scripts, then run all tests.
///
/// Every step runs, also after one has failed. The last line counts the tests;
/// the line above it names the steps that failed, if any.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Services that have to be there, as for `cargo xtask test`.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    require: Vec<Service>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut steps = Steps::default();
    steps.run("format", || outcome_of(cargo(&["fmt", "--all", "--check"])));
    steps.run("structure", structure);
    steps.run("requirements", proofs);
    steps.run("clippy", clippy);
    steps.run("documentation", documentation);
    steps.run("dependencies", dependencies);
    steps.run("offline scripts", offline_scripts);

    let mut tally = Tally::default();
    steps.run("tests", || {
        tally = testing::run(&Selection::default(), &arguments.require)?;
        Ok(Outcome::from(!tally.is_red()))
    });
    if !steps.failed().is_empty() {
        println!("failed steps: {}", steps.failed().join(", "));
    }
    let tests = test::close(&tally);
    Ok(if steps.failed().is_empty() {
        tests
    } else {
        ExitCode::FAILURE
    })
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = workspace::cargo();
    command.args(arguments);
    command
}

fn structure() -> anyhow::Result<Outcome> {
    let violations = hygiene::check()?;
    for violation in &violations {
        println!("{violation}");
    }
    Ok(violations.is_empty().into())
}

/// Every requirement has a test, and the page that shows them is up to date.
fn proofs() -> anyhow::Result<Outcome> {
    let status = requirements::run(&requirements::Arguments { check: true })?;
    Ok(Outcome::from(status == ExitCode::SUCCESS))
}

fn clippy() -> anyhow::Result<Outcome> {
    let mut command = cargo(&["clippy", "--workspace", "--all-targets", "--all-features"]);
    command.args(["--", "-D", "warnings"]);
    outcome_of(command)
}

fn documentation() -> anyhow::Result<Outcome> {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--all-features"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    outcome_of(command)
}

/// Licences, banned crates and sources. Building cargo-deny takes minutes, so
/// it is not asked of a contributor's machine; the workflow always runs it.
fn dependencies() -> anyhow::Result<Outcome> {
    if !workspace::has_subcommand("deny") {
        return Ok(Outcome::NotRun("cargo-deny is not installed"));
    }
    // cargo-deny reads the crates of every platform, a build fetches only its own.
    if outcome_of(cargo(&["fetch", "--quiet"]))? != Outcome::Passed {
        return Ok(Outcome::Failed);
    }
    let arguments = ["deny", "--offline", "check", "licenses", "bans", "sources"];
    outcome_of(cargo(&arguments))
}

fn offline_scripts() -> anyhow::Result<Outcome> {
    let status = ddl::run(&ddl::Arguments { check: true })?;
    Ok(Outcome::from(status == ExitCode::SUCCESS))
}
