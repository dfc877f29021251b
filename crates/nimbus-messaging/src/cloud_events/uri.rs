//! URIs and references to them, as far as RFC 3986 says what one may look like.

use super::AttributeProblem;

/// Checks that a text is a URI or a relative reference.
pub(super) fn check_reference(text: &str) -> Result<(), AttributeProblem> {
    fault(text).map_or(Ok(()), |problem| {
        Err(AttributeProblem::UriReference { problem })
    })
}

/// Checks that a text is a URI with its scheme.
pub(super) fn check_absolute(text: &str) -> Result<(), AttributeProblem> {
    check_reference(text)?;
    if before_colon(text).is_some() {
        Ok(())
    } else {
        Err(AttributeProblem::NoScheme)
    }
}

fn fault(text: &str) -> Option<&'static str> {
    if text.contains(char::is_whitespace) {
        return Some("holds white space");
    }
    if !text.chars().all(may_occur) {
        return Some("holds a character that would have to be percent-encoded");
    }
    let mut escapes = text.split('%').skip(1);
    if !escapes.all(|rest| matches!(rest.as_bytes(), [a, b, ..] if is_hex(*a) && is_hex(*b))) {
        return Some("holds a % without two hexadecimal digits");
    }
    if before_colon(text).is_some_and(|scheme| !is_scheme(scheme)) {
        return Some("has a colon behind something that is no scheme");
    }
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    if fragment.contains('#') {
        return Some("holds # twice");
    }
    // Brackets stand around the address of a host and nowhere else.
    let behind_scheme = before_colon(rest).map_or(rest, |scheme| &rest[scheme.len() + 1..]);
    let host = behind_scheme.strip_prefix("//").map_or("", |authority| {
        authority.split(['/', '?']).next().unwrap_or_default()
    });
    let brackets = |text: &str| text.matches(['[', ']']).count();
    if brackets(text) != brackets(host) || !matches!(brackets(host), 0 | 2) {
        return Some("holds brackets that are not around a host's address");
    }
    None
}

/// What stands in front of the colon that ends a scheme.
fn before_colon(text: &str) -> Option<&str> {
    let end = text.find([':', '/', '?', '#'])?;
    text[end..].starts_with(':').then(|| &text[..end])
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn may_occur(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(character)
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-06: a source is a URI reference.
    #[test]
    fn references_are_told_from_other_texts() {
        for reference in [
            "https://shop.example/orders?since=1#top",
            "mailto:orders@shop.example",
            "urn:uuid:0d9f5f58-2c59-4d0e-a3a5-6f6c9f0f7d11",
            "/shop/orders",
            "//shop.example/a",
            "shop/orders",
            "1-800-555-0199",
            "./a:b",
            "/a:b",
            "caf%C3%A9",
            "http://[2001:db8::7]:8080/x",
            "#part",
            "",
        ] {
            assert_eq!(check_reference(reference), Ok(()), "{reference}");
        }
        for text in [
            "two words",
            "tab\there",
            "caf\u{e9}",
            "a\\b",
            "{x}",
            "100%",
            "%4",
            "%zz",
            "1a:b",
            ":b",
            "a#b#c",
            "/[x]",
            "/a//[::1]",
            "http://[::1/",
            "http://h/#[x]",
        ] {
            let found = check_reference(text);
            assert!(
                matches!(found, Err(AttributeProblem::UriReference { .. })),
                "{text}"
            );
        }
    }

    /// SUB-06: a schema is an absolute URI.
    #[test]
    fn an_absolute_uri_has_a_scheme() {
        assert_eq!(check_absolute("https://shop.example/order.json#v2"), Ok(()));
        assert_eq!(check_absolute("urn:shop:order"), Ok(()));
        for text in ["/order.json", "order.json", "//shop.example/a", "?a:b"] {
            assert_eq!(check_absolute(text), Err(AttributeProblem::NoScheme));
        }
    }
}
