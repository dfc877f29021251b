//! What the whole workspace says about each requirement.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::Finding;
use super::source::Source;
use super::titles::TITLES;
use crate::files;

/// Every requirement and what names it, in the order of the titles.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(super) requirements: Vec<Requirement>,
    /// Requirements without a proof, and names of requirements that there aren't.
    pub(crate) findings: Vec<Finding>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Files whose comments name it, from the root of the workspace.
    pub(super) code: BTreeSet<PathBuf>,
    /// The tests of each file, in its order.
    pub(super) tests: BTreeMap<PathBuf, Vec<String>>,
}

impl Survey {
    /// Reads every Rust file below `root`.
    pub(crate) fn take(root: &Path) -> anyhow::Result<Self> {
        let mut sources = Vec::new();
        for file in files::below(root, "rs")? {
            let text = fs::read_to_string(&file)
                .with_context(|| format!("could not read {}", file.display()))?;
            let path = file.strip_prefix(root).unwrap_or(&file).to_owned();
            sources.push(Source::parse(path, &text)?);
        }
        Ok(Self::of(&sources))
    }

    fn of(sources: &[Source]) -> Self {
        let mut findings = Vec::new();
        let mut requirements: Vec<Requirement> = TITLES
            .iter()
            .map(|(name, title)| Requirement::new(name, title))
            .collect();
        for source in sources {
            for (name, line) in &source.named {
                if !requirements.iter().any(|known| known.name == name) {
                    findings.push(Finding::Unknown {
                        file: source.path.clone(),
                        line: *line,
                        name: name.clone(),
                    });
                }
            }
            for requirement in &mut requirements {
                requirement.add(source);
            }
        }
        let unproved = requirements.iter().filter(|one| one.tests.is_empty());
        findings.extend(unproved.map(|one| Finding::Unproved { name: one.name }));
        Self {
            requirements,
            findings,
        }
    }
}

impl Requirement {
    fn new(name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            code: BTreeSet::new(),
            tests: BTreeMap::new(),
        }
    }

    fn add(&mut self, source: &Source) {
        if source.implemented.iter().any(|name| name == self.name) {
            self.code.insert(source.path.clone());
        }
        let names_it = |requirements: &[String]| requirements.iter().any(|name| name == self.name);
        let tests = source.tests.iter();
        let tests: Vec<String> = tests
            .filter(|test| names_it(&test.requirements))
            .map(|test| test.name.clone())
            .collect();
        if !tests.is_empty() {
            self.tests.insert(source.path.clone(), tests);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(files: &[(&str, &str)]) -> Survey {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::parse(path.into(), text).unwrap())
            .collect();
        Survey::of(&sources)
    }

    #[test]
    fn code_and_tests_come_together() {
        let survey = survey(&[
            ("a/src/code.rs", "//! INB-02\n"),
            ("a/tests/b.rs", "/// INB-02\n#[test]\nfn two() {}\n"),
            (
                "a/tests/a.rs",
                "/// INB-02\n#[test]\nfn z() {}\n/// INB-02\n#[test]\nfn a() {}\n",
            ),
        ]);
        let found = &survey.requirements[1];
        assert_eq!(found.name, "INB-02");
        assert_eq!(found.code, BTreeSet::from(["a/src/code.rs".into()]));
        let tests = found.tests.iter();
        let tests: Vec<_> = tests.map(|(path, names)| (path, names.join(" "))).collect();
        let expected = [
            (&PathBuf::from("a/tests/a.rs"), "z a".to_owned()),
            (&PathBuf::from("a/tests/b.rs"), "two".to_owned()),
        ];
        assert_eq!(tests, expected);
        let unproved = Finding::Unproved { name: "INB-02" };
        assert!(!survey.findings.contains(&unproved));
    }

    #[test]
    fn a_name_of_nothing_and_a_missing_proof_are_found() {
        let survey = survey(&[("a.rs", "// INB-01 stands here,\n// and SUB-99.\n")]);
        let unknown = Finding::Unknown {
            file: "a.rs".into(),
            line: 2,
            name: "SUB-99".to_owned(),
        };
        assert_eq!(survey.findings[0], unknown);
        let unproved = Finding::Unproved { name: "INB-01" };
        assert!(survey.findings.contains(&unproved));
        assert_eq!(survey.findings.len(), 1 + TITLES.len());
    }
}
