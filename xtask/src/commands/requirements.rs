//! `cargo xtask requirements`: the page docs/requirements.md.

use std::fs;
use std::process::ExitCode;

use anyhow::Context;

use crate::requirements::{Finding, Survey, render};
use crate::workspace;

const PAGE: &str = "docs/requirements.md";

/// Write docs/requirements.md: which code implements each requirement, and which tests prove it.
///
/// Fails when a requirement has no test, or when a comment names one that does not exist.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail also if the page differs from what would be written.
    #[arg(long)]
    pub(crate) check: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let survey = Survey::take(workspace::root())?;
    let text = render(&survey);
    let page = workspace::root().join(PAGE);
    let mut findings = survey.findings;
    if !arguments.check {
        fs::write(&page, text).with_context(|| format!("could not write {}", page.display()))?;
    } else if fs::read_to_string(&page).unwrap_or_default() != text {
        findings.push(Finding::Stale { page: PAGE.into() });
    }
    for finding in &findings {
        println!("{finding}");
    }
    Ok(if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
