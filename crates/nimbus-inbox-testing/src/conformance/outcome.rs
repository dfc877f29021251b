/// What became of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseOutcome {
    /// The suite's name, then the case's, joined by `::`.
    pub name: String,
    /// Whether it passed.
    pub result: CaseResult,
}

/// Whether a case passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseResult {
    /// It passed.
    Passed,
    /// It could not run, for this reason.
    Ignored(String),
    /// It failed, for this reason.
    Failed(String),
}
