use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use config::Value;

use super::keys::KeyPath;

/// What is wrong with a configuration, everything at once, each with its place.
///
/// No text repeats a value: it may be a secret at the wrong place.
#[derive(Debug)]
pub(super) struct Problems {
    file: PathBuf,
    found: Vec<String>,
    /// The keys of which something was told.
    told: BTreeSet<String>,
}

impl Problems {
    pub(super) fn new(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            found: Vec::new(),
            told: BTreeSet::new(),
        }
    }

    /// About the configuration as a whole.
    pub(super) fn add(&mut self, problem: impl Into<String>) {
        let problem = problem.into();
        if !self.found.contains(&problem) {
            self.found.push(problem);
        }
    }

    /// About a key, wherever it was given or should be.
    pub(super) fn at_key(&mut self, key: &KeyPath, problem: impl Display) {
        self.told.insert(key.to_string());
        self.add(format!("{key} in {}: {problem}", self.file.display()));
    }

    /// About a key that is needed and not there, unless it is there and wrong.
    pub(super) fn missing(&mut self, key: &KeyPath, advice: Option<&str>) {
        if !self.told.contains(&key.to_string()) {
            let advice = advice.map(|advice| format!("; {advice}"));
            let advice = advice.unwrap_or_default();
            self.at_key(key, format!("this key is missing{advice}"));
        }
    }

    /// About a variable.
    pub(super) fn at_variable(&mut self, name: &str, problem: impl Display) {
        self.add(format!("the environment variable {name}: {problem}"));
    }

    /// About a value, which knows where it comes from.
    pub(super) fn at_value(&mut self, key: &KeyPath, value: &Value, problem: impl Display) {
        match value.origin() {
            Some(variable) => {
                self.told.insert(key.to_string());
                self.at_variable(variable, problem);
            }
            None => self.at_key(key, problem),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.found
    }
}
