use super::AttributeProblem;

/// The characters that no attribute may hold: controls and Unicode's noncharacters.
pub(super) fn check(text: &str) -> Result<(), AttributeProblem> {
    match text.chars().find(|character| is_forbidden(*character)) {
        Some(character) => Err(AttributeProblem::Character { character }),
        None => Ok(()),
    }
}

fn is_forbidden(character: char) -> bool {
    let code = u32::from(character);
    character.is_control() || (0xFDD0..=0xFDEF).contains(&code) || code & 0xFFFE == 0xFFFE
}

/// Enough of a foreign text to recognise it in a message about it.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}

/// What a JSON text is, by its first character.
pub(super) fn kind(json: &str) -> &'static str {
    match json.bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a truth value",
        Some(b'n') => "null",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-06: controls and noncharacters are refused, everything else is taken.
    #[test]
    fn controls_and_noncharacters_are_forbidden() {
        for text in [
            "",
            "order 42",
            "\u{20ac}\u{1f600}",
            "\u{fdcf}\u{fdf0}",
            "\u{fffd}",
        ] {
            assert_eq!(check(text), Ok(()), "{text:?}");
        }
        for character in [
            '\0',
            '\n',
            '\u{7f}',
            '\u{9f}',
            '\u{fdd0}',
            '\u{ffff}',
            '\u{10fffe}',
        ] {
            let found = check(&format!("a{character}b"));
            assert_eq!(found, Err(AttributeProblem::Character { character }));
        }
    }
}
