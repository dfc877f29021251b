//! Runs the tests through cargo-nextest and counts them from its JUnit report,
//! which leaves the terminal, with its colours and progress bar, to nextest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use anyhow::Context;
use serde::Deserialize;

use super::libtest;
use super::services::Services;
use super::tally::Skipped;
use super::{Selection, Tally};
use crate::workspace;

/// Where .config/nextest.toml puts the report of the profile `xtask`.
const REPORT: &str = "target/nextest/xtask/junit.xml";

/// What `cargo nextest list` reports, as far as it is read here.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Listing {
    rust_suites: BTreeMap<String, Suite>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Suite {
    binary_path: PathBuf,
    cwd: PathBuf,
    #[serde(default)]
    testcases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
struct Case {
    ignored: bool,
}

pub(super) fn run(selection: &Selection, services: &Services) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let Some(listing) = list(selection, services)? else {
        tally.trouble("the tests could not be built or listed (see above)");
        return Ok(tally);
    };
    let mut expected = 0;
    for (suite_name, suite) in &listing.rust_suites {
        for (test, case) in &suite.testcases {
            match (selection.matches(test), case.ignored) {
                (false, _) => {}
                (true, false) => expected += 1,
                (true, true) => {
                    tally
                        .skipped
                        .push(skipped(suite_name, suite, test, services));
                }
            }
        }
    }
    if expected > 0 {
        tally.add(execute(selection, services, expected)?);
    }
    Ok(tally)
}

/// The tests that the selected packages hold, or `None` if they do not build.
fn list(selection: &Selection, services: &Services) -> anyhow::Result<Option<Listing>> {
    let mut command = workspace::cargo();
    services.tell(&mut command);
    command.args(["nextest", "list", "--message-format", "json"]);
    selection.scope(&mut command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .context("could not start `cargo nextest list`")?;
    if !output.status.success() {
        return Ok(None);
    }
    serde_json::from_slice(&output.stdout)
        .map(Some)
        .context("`cargo nextest list` answered in a form this xtask doesn't know")
}

fn execute(selection: &Selection, services: &Services, expected: usize) -> anyhow::Result<Tally> {
    let report = workspace::root().join(REPORT);
    remove(&report)?;
    let mut command = workspace::cargo();
    services.tell(&mut command);
    command.args(["nextest", "run", "--profile", "xtask", "--no-fail-fast"]);
    selection.scope(&mut command);
    command.args(&selection.filter);
    let status = command
        .status()
        .context("could not start `cargo nextest run`")?;

    let mut tally = Tally::default();
    let counts = fs::read_to_string(&report)
        .ok()
        .and_then(|text| counts(&text));
    if let Some((tests, failed)) = counts {
        tally.passed = tests.saturating_sub(failed);
        tally.failed = failed;
        if tests != expected {
            tally.trouble(format!("{tests} tests were run of {expected} listed"));
        }
    } else {
        tally.trouble(format!("nextest left no report in {}", report.display()));
    }
    if !status.success() && !tally.is_red() {
        tally.trouble(format!("nextest ended with {status} though no test failed"));
    }
    Ok(tally)
}

/// A report of an earlier run must not be taken for this one's.
fn remove(report: &Path) -> anyhow::Result<()> {
    match fs::remove_file(report) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove {}", report.display()))
        }
        _ => Ok(()),
    }
}

/// Tests and failed ones, from the attributes of the report's root element.
fn counts(report: &str) -> Option<(usize, usize)> {
    let root = report.split_once("<testsuites ")?.1.split_once('>')?.0;
    let attribute = |name: &str| {
        let mut attributes = root.split_ascii_whitespace();
        let value = attributes.find_map(|text| text.strip_prefix(name)?.strip_prefix("=\""))?;
        value.strip_suffix('"')?.parse::<usize>().ok()
    };
    Some((
        attribute("tests")?,
        attribute("failures")? + attribute("errors")?,
    ))
}

/// An ignored test and why it is. nextest's listing does not say, but the test
/// binary does when it is told to run that test alone, and still runs nothing.
fn skipped(suite_name: &str, suite: &Suite, test: &str, services: &Services) -> Skipped {
    let mut command = Command::new(&suite.binary_path);
    services.tell(&mut command);
    let output = command
        .args(["--exact", test])
        .current_dir(&suite.cwd)
        .env("CARGO_MANIFEST_DIR", &suite.cwd)
        .stderr(Stdio::null())
        .output();
    let mut tally = Tally::default();
    if let Ok(output) = output {
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            libtest::count(&mut tally, line);
        }
    }
    let (test, reason) = match tally.skipped.pop() {
        Some(told) => (told.name, told.reason),
        None => (test.to_owned(), None),
    };
    Skipped {
        name: format!("{suite_name} {test}"),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_counts_errors_as_failures() {
        let report = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="12" failures="1" errors="2" uuid="5d" time="0.3">
    <testsuite name="xtask" tests="12" disabled="0" errors="9" failures="9"/>
</testsuites>"#;
        assert_eq!(counts(report), Some((12, 3)));
    }

    #[test]
    fn a_report_without_counts_is_not_taken_for_an_empty_run() {
        assert_eq!(
            counts("<testsuites name=\"nextest-run\" tests=\"1\">"),
            None
        );
        assert_eq!(counts(""), None);
    }

    #[test]
    fn a_listing_is_read() {
        let listing: Listing = serde_json::from_str(
            r#"{"test-count": 1, "rust-suites": {"xtask::bin/xtask": {"binary-path": "/t/xtask",
                "cwd": "/w/xtask", "testcases": {"a::b": {"kind": "test", "ignored": true,
                "filter-match": {"status": "mismatch", "reason": "ignored"}}}}}}"#,
        )
        .unwrap();
        assert!(listing.rust_suites["xtask::bin/xtask"].testcases["a::b"].ignored);
    }
}
