use std::cmp::Reverse;

use strsim::damerau_levenshtein;

/// What to tell someone who wrote `name`, where only these are known.
pub(super) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<_> = known.into_iter().collect();
    match nearest(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if known.is_empty() => "there is nothing to set here".to_owned(),
        None => format!("known are {}", known.join(", ")),
    }
}

/// The known name that `name` most likely means, if any is near.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(name);
    let farthest = (wanted.chars().count() * 2 / 5).max(1);
    let near = known.into_iter().filter_map(|known| {
        let plain = plain(known);
        let distance = damerau_levenshtein(&wanted, &plain);
        let begins_alike = wanted
            .chars()
            .zip(plain.chars())
            .take_while(|(a, b)| a == b);
        (distance <= farthest).then(|| (distance, Reverse(begins_alike.count()), known))
    });
    near.min().map(|(_, _, known)| known)
}

/// Case, dashes and underscores are where names are remembered wrong.
fn plain(name: &str) -> String {
    // What is longer than any name is compared by its beginning: the comparison is quadratic.
    let mut plain: String = name.chars().take(120).collect();
    plain.make_ascii_lowercase();
    plain.replace(['-', '_'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-32: a misspelt name is answered with the nearest, one like no other with all.
    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["retention", "store", "store_timeout"];
        assert_eq!(suggestion("retenton", known), "did you mean retention?");
        assert_eq!(
            suggestion("Store-Timeout", known),
            "did you mean store_timeout?"
        );
        assert_eq!(
            suggestion("password", known),
            "known are retention, store, store_timeout"
        );
        assert_eq!(
            nearest("max_retry", ["max_delay", "max_retries"]),
            Some("max_retries")
        );
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }
}
