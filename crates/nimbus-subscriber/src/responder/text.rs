/// The longest reason and description that leave the subscriber (SUB-22), in characters.
const LONGEST: usize = 4_096;

/// Cuts `text` to 4,096 characters, on a character boundary.
pub(crate) fn cut(text: &str) -> &str {
    text.char_indices()
        .nth(LONGEST)
        .map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-22: a description is cut on a character boundary.
    #[test]
    fn cuts_on_a_character_boundary() {
        let text = "é".repeat(5_000);
        assert_eq!(cut(&text).chars().count(), 4_096);
        assert_eq!(cut("short"), "short");
    }
}
