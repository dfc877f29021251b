//! The files that every library crate has.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::Violation;
use super::violation::LIBRARY_LINES;
use crate::workspace::Package;

pub(super) fn check(package: &Package) -> anyhow::Result<Vec<Violation>> {
    let mut violations = Vec::new();
    if !package.directory().join("README.md").is_file() {
        violations.push(Violation::NoReadme {
            package: package.name.clone(),
        });
    }
    let library = package.directory().join("src/lib.rs");
    let text = fs::read_to_string(&library)
        .with_context(|| format!("could not read {}", library.display()))?;
    violations.extend(table_of_contents(&library, &text));
    Ok(violations)
}

fn table_of_contents(file: &Path, text: &str) -> Option<Violation> {
    let lines = text.lines().count();
    (lines >= LIBRARY_LINES).then(|| Violation::LongLibrary {
        file: file.to_owned(),
        lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_of_sixty_lines_is_too_long() {
        let lines = |count| "mod a;\n".repeat(count);
        let file = Path::new("lib.rs");
        assert_eq!(table_of_contents(file, &lines(59)), None);
        assert!(table_of_contents(file, &lines(60)).is_some());
    }
}
