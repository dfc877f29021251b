//! Reads the output of test binaries: libtest's own, and libtest-mimic's, which
//! prints the same lines.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::Context;

use super::Tally;
use super::tally::Skipped;

/// Runs `command`, shows its output as it comes and counts its tests. `what`
/// names the run where it fails as a whole.
pub(super) fn run(mut command: Command, what: &str) -> anyhow::Result<Tally> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start {what}"))?;
    let mut tally = Tally::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n') {
            let line = line.with_context(|| format!("could not read the output of {what}"))?;
            // A failing test may have printed anything.
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            count(&mut tally, &line);
        }
    }
    let status = child
        .wait()
        .with_context(|| format!("could not wait for {what}"))?;
    if !status.success() && !tally.is_red() {
        tally.trouble(format!(
            "{what} ended with {status} though no test failed: \
             something could not be built, or a test binary died (see above)"
        ));
    }
    Ok(tally)
}

/// Adds what one line of output says.
pub(super) fn count(tally: &mut Tally, line: &str) {
    if let Some((passed, failed)) = result(line) {
        tally.passed += passed;
        tally.failed += failed;
    } else if let Some(skipped) = ignored(line) {
        tally.skipped.push(skipped);
    }
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; …`
fn result(line: &str) -> Option<(usize, usize)> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let number = |label: &str| {
        let mut parts = counts.split("; ");
        parts.find_map(|part| part.strip_suffix(label)?.trim().parse().ok())
    };
    Some((number(" passed")?, number(" failed")?))
}

/// `test store::fills_the_disk ... ignored, needs root`. A libtest-mimic suite
/// gives its reason as the kind: `test [needs postgres] purge ... ignored`.
fn ignored(line: &str) -> Option<Skipped> {
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ignored")?;
    let reason = match outcome {
        "" => None,
        text => Some(text.strip_prefix(", ")?),
    };
    let name = name.trim();
    let kind = name.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (reason, name) = match (reason, kind) {
        (None, Some((kind, name))) => (Some(kind), name.trim()),
        _ => (reason, name),
    };
    Some(Skipped {
        name: name.to_owned(),
        reason: reason.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(output: &str) -> Tally {
        let mut tally = Tally::default();
        for line in output.lines() {
            count(&mut tally, line);
        }
        tally
    }

    #[test]
    fn several_binaries_add_up() {
        let tally = counted(
            "running 3 tests\n\
             test keys::blank ... ok\n\
             test keys::long ... FAILED\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.30s\n",
        );
        assert_eq!(tally.to_string(), "5 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn ignored_tests_keep_their_reason() {
        let tally = counted(
            "test disk::full ... ignored, needs a tmpfs\n\
             test [needs postgres]  purge::bounded  ... ignored\n\
             test slow::million ... ignored\n\
             test crates/core/README.md - (line 10) ... ignored\n",
        );
        let lines: Vec<_> = tally.skipped.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "disk::full: needs a tmpfs",
                "purge::bounded: needs postgres",
                "slow::million: no reason given",
                "crates/core/README.md - (line 10): no reason given",
            ]
        );
    }

    #[test]
    fn other_lines_count_nothing() {
        let tally = counted(
            "test sends ... ok\n\
             this test ... ignored me\n\
             test result: unclear\n\
             test a ... ignoredly\n",
        );
        assert_eq!(tally, Tally::default());
    }

    #[test]
    fn a_command_that_fails_without_a_failed_test_is_trouble() {
        let mut command = crate::workspace::cargo();
        command.arg("no-such-subcommand").stderr(Stdio::null());
        let tally = run(command, "the doc tests").unwrap();
        assert_eq!(tally.to_string(), "0 passed, 1 failed, 0 skipped");
    }
}
