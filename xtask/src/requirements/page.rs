//! The page that shows the survey.

use std::fmt::Write;
use std::path::Path;

use super::survey::{Requirement, Survey};

const HEAD: &str = "\
# Requirements

What the inbox (INB) and the subscriber (SUB) have to do, where each is implemented, and which tests prove it. Comments in
the code name requirements by these numbers.

`cargo xtask requirements` writes this page from those comments; `cargo xtask ci` fails when it is out of date, when no test
names a requirement, or when a comment names one that is not listed here. The titles only remind; they are kept in
[titles.rs](../xtask/src/requirements/titles.rs).
";

const PARTS: [(&str, &str); 2] = [("INB-", "The inbox"), ("SUB-", "The subscriber")];

/// The page in Markdown, for docs/.
pub(crate) fn render(survey: &Survey) -> String {
    let mut page = HEAD.to_owned();
    for (prefix, heading) in PARTS {
        let _ = write!(
            page,
            "\n## {heading}\n\n| | requirement | code | proved by |\n|---|---|---|---|\n"
        );
        let requirements = survey.requirements.iter();
        for one in requirements.filter(|one| one.name.starts_with(prefix)) {
            page.push_str(&row(one));
        }
    }
    page
}

fn row(requirement: &Requirement) -> String {
    let code: Vec<String> = requirement.code.iter().map(|path| link(path)).collect();
    let tests: Vec<String> = requirement
        .tests
        .iter()
        .map(|(path, names)| format!("{}: `{}`", link(path), names.join("`, `")))
        .collect();
    let cell = |lines: &[String]| match lines {
        [] => "–".to_owned(),
        lines => lines.join("<br>"),
    };
    format!(
        "| **{}** | {} | {} | {} |\n",
        requirement.name,
        requirement.title,
        cell(&code),
        cell(&tests)
    )
}

/// A link from docs/ to a file, under its path without what all of them share.
fn link(path: &Path) -> String {
    let shown = path.strip_prefix("crates").unwrap_or(path);
    format!("[{}](../{})", slashes(shown), slashes(path))
}

/// The same page on every platform.
fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn a_requirement_is_a_row_of_links() {
        let tests = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let row = row(&Requirement {
            name: "INB-02",
            title: "Hash",
            code: BTreeSet::from(["crates/core/src/hash.rs".into(), "xtask/src/a.rs".into()]),
            tests: BTreeMap::from([
                ("crates/core/tests/hash.rs".into(), tests(&["one", "two"])),
                ("tests/tests/all.rs".into(), tests(&["three"])),
            ]),
        });
        assert_eq!(
            row,
            "| **INB-02** | Hash | [core/src/hash.rs](../crates/core/src/hash.rs)<br>\
             [xtask/src/a.rs](../xtask/src/a.rs) | \
             [core/tests/hash.rs](../crates/core/tests/hash.rs): `one`, `two`<br>\
             [tests/tests/all.rs](../tests/tests/all.rs): `three` |\n"
        );
    }
}
