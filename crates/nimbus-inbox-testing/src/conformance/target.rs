use std::fmt;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

use super::case::Case;
use super::{
    CaseOutcome, ServiceTests, SessionStoreConformance, StoreConformance, TransportConformance,
};

/// One or more suites, ready to run as a test target.
///
/// The [`conformance!`](crate::conformance!) macro runs one for the command line.
#[must_use]
pub struct Conformance {
    suites: Vec<Box<dyn FnOnce() -> Vec<Case>>>,
    only: String,
}

impl Conformance {
    fn of(cases: impl FnOnce() -> Vec<Case> + 'static) -> Self {
        Self {
            suites: vec![Box::new(cases)],
            only: String::new(),
        }
    }

    /// Adds another suite.
    pub fn and(mut self, other: impl Into<Self>) -> Self {
        self.suites.extend(other.into().suites);
        self
    }

    /// Leaves out the cases whose names don't contain `part`.
    pub fn only(mut self, part: impl Into<String>) -> Self {
        self.only = part.into();
        self
    }

    /// Runs what the command line asks for, and prints like any other test target.
    ///
    /// A case whose suite is [unavailable](StoreConformance::unavailable) is listed as ignored,
    /// with the reason as its kind.
    #[must_use = "the exit code tells whether the cases passed"]
    pub fn run(self) -> ExitCode {
        let arguments = Arguments::from_args();
        let trials = self.cases().map(trial).collect();
        libtest_mimic::run(&arguments, trials).exit_code()
    }

    /// Runs every case in turn and returns what became of each, for tests of a suite itself.
    ///
    /// # Panics
    ///
    /// When it is called from asynchronous code: each case runs on a runtime of its own.
    #[must_use]
    pub fn outcomes(self) -> Vec<CaseOutcome> {
        self.cases()
            .map(|case| CaseOutcome {
                name: case.name.clone(),
                result: case.result(),
            })
            .collect()
    }

    fn cases(self) -> impl Iterator<Item = Case> {
        self.suites
            .into_iter()
            .flat_map(|cases| cases())
            .filter(move |case| case.name.contains(&self.only))
    }
}

fn trial(case: Case) -> Trial {
    let unavailable = case.unavailable.clone();
    let trial = Trial::test(case.name.clone(), || case.run().map_err(Failed::from));
    match unavailable {
        Some(reason) => trial.with_kind(reason).with_ignored_flag(true),
        None => trial,
    }
}

impl From<StoreConformance> for Conformance {
    fn from(suite: StoreConformance) -> Self {
        Self::of(|| suite.into_cases())
    }
}

impl From<TransportConformance> for Conformance {
    fn from(suite: TransportConformance) -> Self {
        Self::of(|| suite.into_cases())
    }
}

impl From<SessionStoreConformance> for Conformance {
    fn from(suite: SessionStoreConformance) -> Self {
        Self::of(|| suite.into_cases())
    }
}

impl From<ServiceTests> for Conformance {
    fn from(tests: ServiceTests) -> Self {
        Self::of(|| tests.into_cases())
    }
}

impl fmt::Debug for Conformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conformance")
            .field("suites", &self.suites.len())
            .field("only", &self.only)
            .finish()
    }
}
