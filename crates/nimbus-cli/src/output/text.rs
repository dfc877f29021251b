use nimbus_inbox_core::Timestamp;

/// Text of a message as it may be shown: what could steer a terminal is replaced.
pub(crate) fn plain(text: &str) -> String {
    let shown = |character: char| {
        if steers(character) && character != '\n' {
            '\u{fffd}'
        } else {
            character
        }
    };
    text.chars().map(shown).collect()
}

/// Control characters, and those that break a line or turn the direction of what follows, so that
/// an id would look like another one.
fn steers(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{061c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// One line of at most `width` characters.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let line: String = plain(text).replace('\n', " ");
    if line.chars().count() <= width {
        return line;
    }
    let mut kept: String = line.chars().take(width.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

/// An instant to the second.
pub(crate) fn instant(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('.') {
        Some((seconds, _)) => format!("{}Z", seconds.replace('T', " ")),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_not_shown() {
        assert_eq!(plain("a\u{1b}[2Jb\r"), "a\u{fffd}[2Jb\u{fffd}");
        assert_eq!(plain("a\u{9b}2J\0b"), "a\u{fffd}2J\u{fffd}b");
        assert_eq!(plain("\u{202e}live\u{2028}"), "\u{fffd}live\u{fffd}");
        assert_eq!(plain("größer 🎉 مرحبا"), "größer 🎉 مرحبا");
        assert_eq!(cut("one\ntwo", 20), "one two");
        assert_eq!(cut("abcdef", 4), "abc…");
    }

    #[test]
    fn instants_are_shown_to_the_second() {
        let at = Timestamp::from_unix_ticks(17_000_000_000_000_001);
        assert_eq!(instant(at), "2023-11-14 22:13:20Z");
    }
}
