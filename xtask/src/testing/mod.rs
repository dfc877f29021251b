//! Runs every test and doc test, and counts them as one.

mod libtest;
mod nextest;
mod require;
mod services;
mod tally;

pub(crate) use require::Service;
pub(crate) use tally::Tally;

use std::process::Command;

use crate::workspace::{self, Workspace};

use services::Services;

/// Which tests to run; empty means all.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) packages: Vec<String>,
    /// Text that a test's name has to contain.
    pub(crate) filter: Option<String>,
}

impl Selection {
    /// Adds the packages and features to build.
    fn scope(&self, command: &mut Command) {
        scope(command, &self.packages);
    }

    fn matches(&self, test: &str) -> bool {
        let filter = self.filter.as_deref();
        filter.is_none_or(|text| test.contains(text))
    }
}

fn scope<T: AsRef<str>>(command: &mut Command, packages: &[T]) {
    command.arg("--all-features");
    if packages.is_empty() {
        command.arg("--workspace");
    }
    for package in packages {
        command.args(["--package", package.as_ref()]);
    }
}

/// Runs the selected tests and prints what a reader needs to know about them,
/// all but the closing line.
pub(crate) fn run(selection: &Selection, required: &[Service]) -> anyhow::Result<Tally> {
    let workspace = Workspace::load()?;
    let mut tally = require::suites_exist(&workspace, required);
    if tally.is_red() {
        // Known before anything is built: don't make the caller wait for it.
        tally.print_remarks();
        return Ok(tally);
    }
    // They end with this run.
    let services = Services::prepare(selection);
    if workspace::has_subcommand("nextest") {
        tally.add(nextest::run(selection, &services)?);
        tally.add(doc_tests(&workspace, selection, &services)?);
    } else {
        println!("cargo-nextest is not installed: running `cargo test`");
        tally.add(cargo_test(selection, &services)?);
    }
    require::nothing_required_was_skipped(&mut tally, required);
    if tally.is_empty() {
        tally.trouble("no test ran: nothing matches the selection");
    }
    tally.print_remarks();
    Ok(tally)
}

/// nextest runs no doc tests, so they have a run of their own.
fn doc_tests(
    workspace: &Workspace,
    selection: &Selection,
    services: &Services,
) -> anyhow::Result<Tally> {
    let mut packages = Vec::new();
    if !selection.packages.is_empty() {
        // Naming a package without a library is an error for `cargo test --doc`.
        let selected = |name: &str| selection.packages.iter().any(|package| package == name);
        let candidates = workspace.packages.iter();
        packages.extend(
            candidates
                .filter(|package| selected(&package.name) && package.has_doc_tests())
                .map(|package| package.name.as_str()),
        );
        if packages.is_empty() {
            return Ok(Tally::default());
        }
    }
    let mut command = workspace::cargo();
    command.args(["test", "--doc", "--no-fail-fast"]);
    services.tell(&mut command);
    scope(&mut command, &packages);
    filter(&mut command, selection);
    libtest::run(command, "the doc tests")
}

fn cargo_test(selection: &Selection, services: &Services) -> anyhow::Result<Tally> {
    let mut command = workspace::cargo();
    services.tell(&mut command);
    command.args(["test", "--no-fail-fast"]);
    selection.scope(&mut command);
    filter(&mut command, selection);
    libtest::run(command, "the tests")
}

fn filter(command: &mut Command, selection: &Selection) {
    if let Some(text) = &selection.filter {
        command.arg("--").arg(text);
    }
}
