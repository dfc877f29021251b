//! Requirements named in a text.

/// Prefixes of the requirements' names: the inbox and the subscriber.
pub(super) const PREFIXES: [&str; 2] = ["INB-", "SUB-"];

/// A requirement's name and where the text has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// As written, whether there is such a requirement or not.
    pub(super) name: String,
    /// In bytes from the start of the text.
    pub(super) offset: usize,
}

/// What joins a number to the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// Both and everything between them.
    Range,
    /// One more.
    List,
}

const JOINTS: [(&str, Joint); 8] = [
    (", and ", Joint::List),
    (",", Joint::List),
    ("and ", Joint::List),
    ("or ", Joint::List),
    ("to ", Joint::Range),
    ("through ", Joint::Range),
    ("…", Joint::Range),
    ("–", Joint::Range),
];

/// Finds single names, and each of a range (`35 to 37`, `15…20`) or list (`36, 37 and 38`) that a name
/// begins.
///
/// A number without a prefix counts if it has two digits, as all of the requirements have.
pub(super) fn find(text: &str) -> Vec<Named> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some((offset, prefix)) = next_prefix(text, start) {
        start = offset + prefix.len();
        let Some(number) = digits(&text[start..]) else {
            continue;
        };
        start += number.len();
        let mut add = |number: &str| {
            found.push(Named {
                name: format!("{prefix}{number}"),
                offset,
            });
        };
        add(number);
        let mut last: Option<u32> = number.parse().ok();
        while let Some((joint, number, length)) = joined(&text[start..], prefix) {
            start += length;
            let this: Option<u32> = number.parse().ok();
            if let (Joint::Range, Some(from), Some(to)) = (joint, last, this) {
                for between in from + 1..to {
                    add(&format!("{between:02}"));
                }
            }
            add(number);
            last = this;
        }
    }
    found
}

/// Where the next name begins, if it does not end a longer word.
fn next_prefix(text: &str, start: usize) -> Option<(usize, &'static str)> {
    let places = PREFIXES.iter().flat_map(|prefix| {
        let places = text[start..].match_indices(prefix);
        places.map(|(place, _)| (start + place, *prefix))
    });
    places
        .filter(|(place, _)| !text[..*place].ends_with(|c: char| c.is_alphanumeric()))
        .min()
}

/// The digits that `text` begins with, unless they are the start of something else.
fn digits(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let end = end.unwrap_or(text.len());
    let word = text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (end > 0 && !word).then(|| &text[..end])
}

/// A further number, with or without the prefix, and the length of all that was read.
fn joined<'a>(text: &'a str, prefix: &str) -> Option<(Joint, &'a str, usize)> {
    let rest = text.trim_start();
    let mut joints = JOINTS.iter();
    let (rest, joint) = joints.find_map(|(words, joint)| {
        // A word may end its line.
        let stripped = rest.strip_prefix(words.trim_end())?;
        let apart = !words.ends_with(' ') || stripped.starts_with(char::is_whitespace);
        apart.then_some((stripped.trim_start(), *joint))
    })?;
    let number = match rest.strip_prefix(prefix) {
        Some(rest) => digits(rest)?,
        None => digits(rest).filter(|number| number.len() == 2)?,
    };
    let after = &rest[rest.find(number)? + number.len()..];
    Some((joint, number, text.len() - after.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        find(text).into_iter().map(|named| named.name).collect()
    }

    #[test]
    fn lists_and_ranges_count_for_each() {
        assert_eq!(names("INB-14, SUB-29: x"), ["INB-14", "SUB-29"]);
        assert_eq!(names("SUB-35 to 37."), ["SUB-35", "SUB-36", "SUB-37"]);
        assert_eq!(names("SUB-35 to SUB-37"), ["SUB-35", "SUB-36", "SUB-37"]);
        assert_eq!(
            names("(INB-15…18)"),
            ["INB-15", "INB-16", "INB-17", "INB-18"]
        );
        assert_eq!(names("INB-15–16"), ["INB-15", "INB-16"]);
        assert_eq!(names("SUB-36, 37 and 38"), ["SUB-36", "SUB-37", "SUB-38"]);
        assert_eq!(
            names("SUB-08, 10, and 35 to\n  37 hold"),
            ["SUB-08", "SUB-10", "SUB-35", "SUB-36", "SUB-37"]
        );
        assert_eq!(names("SUB-18 and SUB-35"), ["SUB-18", "SUB-35"]);
    }

    #[test]
    fn other_numbers_are_left_alone() {
        assert_eq!(names("INB-03: 512 units, 513 are too many"), ["INB-03"]);
        assert_eq!(names("SUB-29, 8 sessions"), ["SUB-29"]);
        assert_eq!(names("INB-23, 1000 or more"), ["INB-23"]);
        assert_eq!(names("SUB-20, 10x"), ["SUB-20"]);
        assert_eq!(names("SUB-20 together"), ["SUB-20"]);
        assert_eq!(names("XSUB-12, SUB-x, SUB-12th, SUB-"), [""; 0]);
    }

    #[test]
    fn what_does_not_exist_is_found_as_written() {
        assert_eq!(names("SUB-5, INB-042"), ["SUB-5", "INB-042"]);
        assert_eq!(find("see SUB-99")[0].offset, 4);
    }
}
