//! Links between the repository's own pages lead somewhere.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::Violation;
use crate::files;

/// Checks every Markdown page below `root`, build output left out.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for page in files::below(root, "md")? {
        let text = fs::read_to_string(&page)
            .with_context(|| format!("could not read {}", page.display()))?;
        let folder = page.parent().unwrap_or(root);
        for (line, target) in links(&text) {
            if !folder.join(&target).exists() {
                violations.push(Violation::BrokenLink {
                    page: page.strip_prefix(root).unwrap_or(&page).to_owned(),
                    line,
                    target,
                });
            }
        }
    }
    Ok(violations)
}

/// The files that a page links to, with the line of each, code left out.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            let targets = line.split("](").skip(1);
            let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0));
            links.extend(targets.filter_map(file).map(|file| (index + 1, file)));
        }
    }
    links
}

/// The file that a link names, unless it leads to another site, into the same
/// page or, as rustdoc allows in a crate's README, to an item.
fn file(target: &str) -> Option<String> {
    let path = target.split('#').next().unwrap_or_default();
    let elsewhere = path.contains("://") || path.starts_with("mailto:");
    let item = !path.contains(['/', '.']);
    (!elsewhere && !item).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_and_other_targets_are_left_alone() {
        let text = "See [a](guide.md#start) and [b](adr/), [c](https://example.org/x.md).\n\
                    [`Inbox`](crate::Inbox) [`Key`](Key) [top](#top) [m](mailto:a@b.c)\n\
                    ```rust\n[x](no.md)\n```\n\
                    [d](../ARCHITECTURE.md)\n";
        let expected = [(1, "guide.md"), (1, "adr/"), (6, "../ARCHITECTURE.md")];
        assert_eq!(
            links(text),
            expected.map(|(line, file)| (line, file.to_owned()))
        );
    }

    #[test]
    fn a_link_to_nothing_is_broken() {
        let folder = tempfile::tempdir().unwrap();
        let page = "[here](page.md)\n\n[nowhere](missing.md)\n";
        fs::write(folder.path().join("page.md"), page).unwrap();
        let found = check(folder.path()).unwrap();
        let expected = Violation::BrokenLink {
            page: "page.md".into(),
            line: 3,
            target: "missing.md".to_owned(),
        };
        assert_eq!(found, [expected]);
    }
}
