//! One source file: its comments and its tests.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, anyhow};
use proc_macro2::{TokenStream, TokenTree};

use super::names::{self, Named};
use super::test_functions::{self, Contents, Test};

/// Crates and folders whose comments speak of proofs, not of the thing proved.
const TESTING_CRATE: &str = "crates/nimbus-inbox-testing";
const TEST_FOLDER: &str = "tests";
const TEST_FILE: &str = "tests.rs";

/// What the survey reads of a file.
#[derive(Debug)]
pub(super) struct Source {
    /// From the root of the workspace.
    pub(super) path: PathBuf,
    pub(super) tests: Vec<Test>,
    /// Requirements that comments name, tests' included, with their lines.
    pub(super) named: Vec<(String, usize)>,
    /// The same without what stands in tests and test support.
    pub(super) implemented: Vec<String>,
}

impl Source {
    pub(super) fn parse(path: PathBuf, text: &str) -> anyhow::Result<Self> {
        let tokens = TokenStream::from_str(text)
            .map_err(|error| anyhow!("{error}"))
            .with_context(|| format!("{} is not Rust", path.display()))?;
        let comments = comments(text, tokens.clone());
        let file = syn::parse2(tokens)
            .with_context(|| format!("{} is not a Rust file", path.display()))?;
        let Contents { tests, test_code } = test_functions::of(&file);
        let found = names::find(&comments);
        let implemented = if is_test_code(&path) {
            Vec::new()
        } else {
            outside(&found, &test_code)
        };
        Ok(Self {
            path,
            tests,
            named: found
                .into_iter()
                .map(|named| (named.name, line(text, named.offset)))
                .collect(),
            implemented,
        })
    }
}

fn is_test_code(path: &Path) -> bool {
    path.starts_with(TESTING_CRATE)
        || path.file_name().is_some_and(|name| name == TEST_FILE)
        || path.iter().any(|part| part == TEST_FOLDER)
}

fn outside(found: &[Named], ranges: &[Range<usize>]) -> Vec<String> {
    let inside = |named: &&Named| !ranges.iter().any(|range| range.contains(&named.offset));
    let outside = found.iter().filter(inside);
    outside.map(|named| named.name.clone()).collect()
}

fn line(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// The text with everything that is not comment struck out, at the same offsets, so that a name in
/// a string is none, and one that runs over the end of a line is whole.
fn comments(text: &str, tokens: TokenStream) -> String {
    let mut bytes = text.as_bytes().to_vec();
    strike_code(text, tokens, &mut bytes);
    // Whole tokens were struck out, so this is still UTF-8.
    let mut comments = String::from_utf8_lossy(&bytes).into_owned();
    for (place, length) in markers(&comments) {
        comments.replace_range(place..place + length, &" ".repeat(length));
    }
    comments
}

fn strike_code(text: &str, tokens: TokenStream, bytes: &mut [u8]) {
    for token in tokens {
        let place = token.span().byte_range();
        // All tokens of a doc comment have the whole of it as their place.
        if text[place.clone()].starts_with("//") || text[place.clone()].starts_with("/*") {
            continue;
        }
        if let TokenTree::Group(group) = token {
            bytes[group.span_open().byte_range()].fill(b'\0');
            bytes[group.span_close().byte_range()].fill(b'\0');
            strike_code(text, group.stream(), bytes);
        } else {
            bytes[place].fill(b'\0');
        }
    }
}

/// Where comments begin that have their line to themselves, and how long their markers are.
fn markers(text: &str) -> Vec<(usize, usize)> {
    let mut place = 0;
    let mut markers = Vec::new();
    for line in text.split_inclusive('\n') {
        let marker = line.trim_start();
        let kinds = ["///", "//!", "//"];
        if let Some(kind) = kinds.iter().find(|kind| marker.starts_with(**kind)) {
            markers.push((place + line.len() - marker.len(), kind.len()));
        }
        place += line.len();
    }
    markers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::parse(path.into(), text).unwrap()
    }

    const FILE: &str = r##"
//! The inbox (INB-06 to
//! 08).

/// Says (SUB-01).
fn says() -> &'static str {
    // Why: SUB-02.
    "SUB-03" // and SUB-04
}

#[cfg(test)]
mod tests {
    /// SUB-05
    #[test]
    fn it_says() {
        let text = r"
            // SUB-06
        ";
        /* SUB-07 */
    }
}
"##;

    #[test]
    fn comments_count_and_strings_do_not() {
        let found = source("crates/a/src/says.rs", FILE).named;
        let expected = [
            ("INB-06", 2),
            ("INB-07", 2),
            ("INB-08", 2),
            ("SUB-01", 5),
            ("SUB-02", 7),
            ("SUB-04", 8),
            ("SUB-05", 13),
            ("SUB-07", 19),
        ];
        assert_eq!(found, expected.map(|(name, line)| (name.to_owned(), line)));
    }

    #[test]
    fn what_tests_say_is_no_implementation() {
        let names = ["INB-06", "INB-07", "INB-08", "SUB-01", "SUB-02", "SUB-04"];
        assert_eq!(source("crates/a/src/says.rs", FILE).implemented, names);
        for path in [
            "crates/a/tests/says.rs",
            "tests/src/lib.rs",
            "xtask/demo/src/plan/tests.rs",
            "crates/nimbus-inbox-testing/src/key.rs",
        ] {
            assert_eq!(source(path, FILE).implemented, [""; 0], "{path}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let error = Source::parse("a/b.rs".into(), "fn (").unwrap_err();
        assert!(error.to_string().contains("a/b.rs"), "{error:#}");
    }
}
