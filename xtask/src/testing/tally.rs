//! The count that a test run ends with.

use std::fmt;

/// What came of a run. `Display` is the closing line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: Vec<Skipped>,
    troubles: Vec<String>,
}

/// A test that is listed and was not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skipped {
    pub(crate) name: String,
    pub(crate) reason: Option<String>,
}

impl Tally {
    /// Adds the counts of another run.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped.extend(other.skipped);
        self.troubles.extend(other.troubles);
    }

    /// Notes something other than a test that failed, e.g. a build. It counts
    /// as a failure, so that the closing line never reads green on a red run.
    pub(crate) fn trouble(&mut self, text: impl Into<String>) {
        self.failed += 1;
        self.troubles.push(text.into());
    }

    pub(crate) fn is_red(&self) -> bool {
        self.failed > 0
    }

    /// Whether nothing was run.
    pub(crate) fn is_empty(&self) -> bool {
        self.passed + self.failed == 0
    }

    /// Prints the skipped tests with their reasons, then the troubles.
    pub(super) fn print_remarks(&self) {
        for skipped in &self.skipped {
            println!("skipped: {skipped}");
        }
        for trouble in &self.troubles {
            println!("failed: {trouble}");
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, failed, skipped) = (self.passed, self.failed, self.skipped.len());
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.reason.as_deref().unwrap_or("no reason given");
        write!(f, "{}: {reason}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(name: &str) -> Skipped {
        Skipped {
            name: name.to_owned(),
            reason: None,
        }
    }

    #[test]
    fn runs_add_up_to_one_line() {
        let mut tally = Tally {
            passed: 3,
            skipped: vec![skipped("a")],
            ..Tally::default()
        };
        tally.add(Tally {
            passed: 4,
            failed: 2,
            skipped: vec![skipped("b")],
            ..Tally::default()
        });
        assert_eq!(tally.to_string(), "7 passed, 2 failed, 2 skipped");
    }

    #[test]
    fn trouble_makes_a_run_red_and_shows_in_the_line() {
        let mut tally = Tally {
            passed: 3,
            ..Tally::default()
        };
        assert!(!tally.is_red());
        tally.trouble("the tests could not be built");
        assert!(tally.is_red());
        assert_eq!(tally.to_string(), "3 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn a_run_that_only_skipped_is_empty() {
        let tally = Tally {
            skipped: vec![skipped("a")],
            ..Tally::default()
        };
        assert!(tally.is_empty());
    }
}
