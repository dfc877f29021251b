//! Removes secrets from texts of providers before they are logged (INB-11).
//!
//! Where it can't tell the end of a secret it removes too much rather than too little.

/// What a secret is replaced with.
const REDACTED: &str = "[redacted]";

/// A name that ends with one of these holds a secret.
const SECRET_NAMES: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "credential",
    "accountkey",
    "accesskey",
    "apikey",
    "access_key",
    "api_key",
    "api-key",
    "accesssignature",
    "authorization",
    "signature",
];

/// Too short to be looked for at the end of longer names.
const WHOLE_SECRET_NAMES: [&str; 2] = ["sig", "pass"];

/// `text` without the values of `name=value` and `name: value` whose name speaks of a secret,
/// without bearer tokens, and without the user information of URLs.
pub(crate) fn redact(text: &str) -> String {
    // ASCII lower case keeps every byte offset.
    let lower = text.to_ascii_lowercase();
    let mut kept = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        match secret_starting(text, &lower, at) {
            Some((start, end)) => {
                kept.push_str(&text[copied..start]);
                kept.push_str(REDACTED);
                copied = end;
                at = end.max(at + 1);
            }
            None => at += 1,
        }
    }
    kept.push_str(&text[copied..]);
    kept
}

/// The range of the secret that the byte at `at` announces. Only ASCII bytes announce one, and
/// the ranges begin and end at ASCII bytes or at the end, so they can be sliced.
fn secret_starting(text: &str, lower: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    match bytes[at] {
        // A path such as `token::Error` in a type's name.
        b':' if bytes.get(at + 1) == Some(&b':') => None,
        separator @ (b'=' | b':') if names_secret(lower, at) => {
            let start = at + 1 + leading(&bytes[at + 1..], |b| b == b' ' || b == b'\t');
            Some((start, value_end(bytes, start, separator)))
        }
        b':' if bytes[at..].starts_with(b"://") => user_info(bytes, at + 3),
        b' ' if lower.as_bytes()[..at].ends_with(b"bearer") => {
            let start = at + leading(&bytes[at..], |b| b == b' ');
            let length = leading(&bytes[start..], |b| !ends_token(b));
            (length > 0).then_some((start, start + length))
        }
        _ => None,
    }
}

/// Whether the name before the separator at `separator` speaks of a secret.
fn names_secret(lower: &str, separator: usize) -> bool {
    let before = lower[..separator].trim_end_matches([' ', '\t', '"', '\'', '`', '\\', ']']);
    let name = before
        .rsplit(|c: char| !(c.is_ascii_alphanumeric() || "_-. ".contains(c)))
        .next()
        .unwrap_or(before);
    let last_word = name.rsplit(['_', '-', '.', ' ']).next().unwrap_or(name);
    // Connection strings write `Account Key` as well as `AccountKey`.
    let joined = name.replace(' ', "");
    WHOLE_SECRET_NAMES.contains(&last_word)
        || SECRET_NAMES.iter().any(|secret| joined.ends_with(secret))
}

fn value_end(bytes: &[u8], start: usize, separator: u8) -> usize {
    let rest = &bytes[start..];
    match rest {
        [quote @ (b'"' | b'\'' | b'`'), ..] => start + 1 + quoted_end(&rest[1..], *quote),
        [b'{', ..] => start + 1 + quoted_end(&rest[1..], b'}'),
        // A quoted value inside a text that was itself shown with escapes.
        [b'\\', quote @ (b'"' | b'\''), ..] => {
            let close = [b'\\', *quote];
            let inner = &rest[2..];
            let end = inner.windows(2).position(|pair| pair == close);
            end.map_or(bytes.len(), |end| start + 2 + end + 2)
        }
        _ => start + bare_end(rest, separator),
    }
}

/// The length up to and including the closing quote; a doubled or escaped one does not close.
fn quoted_end(bytes: &[u8], close: u8) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'\\' && close != b'}' {
            at += 2;
        } else if bytes[at] != close {
            at += 1;
        } else if bytes.get(at + 1) == Some(&close) {
            at += 2;
        } else {
            return at + 1;
        }
    }
    bytes.len()
}

/// Connection strings allow blanks and commas in a bare value, so only what surely ends one does.
fn bare_end(bytes: &[u8], separator: u8) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b';' | b'&' | b'\n' | b'\r' => return at,
            b',' | b'}' if separator == b':' => return at,
            b'"' if separator == b':' => at += 1 + quoted_end(&bytes[at + 1..], b'"'),
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The user information of a URL whose authority begins at `start`, or the password in it.
///
/// The last `@` counts: an unencoded password may hold one, or a slash.
fn user_info(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    let rest = &bytes[start..];
    let run = leading(rest, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'"' | b'`' | b'<' | b'>')
    });
    let end = rest[..run].iter().rposition(|b| *b == b'@')?;
    let colon = rest[..end].iter().position(|b| *b == b':');
    Some((start + colon.map_or(0, |colon| colon + 1), start + end))
}

fn ends_token(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';')
}

fn leading(bytes: &[u8], matches: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|b| !matches(*b))
        .unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::redact;

    const SECRET: &str = "hunter2";

    /// INB-11: every form in which connection strings, URLs, headers and debug output carry one.
    #[test]
    fn a_secret_is_found_in_every_form() {
        let forms = [
            "Password=hunter2",
            "password = hunter2;Timeout=5",
            "PWD={hunter2;}};x};Database=d",
            "Pwd='it''s hunter2'",
            "Password=\"hunter2;still \\\" hunter2\";x",
            "Password=two words hunter2;x",
            "Password=a,hunter2",
            "User Password = hunter2",
            "AccountEndpoint=https://x;AccountKey=hunter2==;",
            "Account Key=hunter2",
            "SharedAccessKeyName=Root;SharedAccessKey=hunter2",
            "https://x/?sv=1&sig=hunter2&se=2",
            "SharedAccessSignature sr=x&sig=hunter2",
            "client_secret=hunter2&grant_type=x",
            "access_token: hunter2",
            "{\"password\":\"hunter2\",\"user\":\"sa\"}",
            "{\"password\" : \"a\\\"hunter2\"}",
            "Config { user: \"sa\", password: \"a, hunter2\" }",
            "Config { password: Some(\"a, hunter2\"), user: 1 }",
            "\"Server=x;Password=\\\"hunter2\\\";\"",
            "config[\"password\"] = hunter2",
            "password => hunter2",
            "authorization: Basic hunter2",
            "Authorization: Bearer hunter2",
            "got bearer  hunter2.x.y back",
            "amqp://guest:hunter2@rabbit:5672/%2f",
            "postgres://app:a/hunter2@b@db/inbox",
            "redis://hunter2@cache",
            "mot de passé password=hunter2",
            "\u{e9}password=hunter2",
            "api-key: hunter2, other: 1",
            "passphrase=hunter2\nnext line",
        ];
        for form in forms {
            let shown = redact(form);
            assert!(!shown.contains(SECRET), "{form} became {shown}");
            assert!(shown.contains("[redacted]"), "{form} became {shown}");
        }
    }

    #[test]
    fn what_is_no_secret_is_kept() {
        for text in [
            "password authentication failed for user \"app\"",
            "no such table: InboxMessages; run `cargo xtask provision`",
            "Server=db;Database=inbox;SharedAccessKeyName=Root;Encrypt=true",
            "https://account.documents.azure.com:443/dbs/MessageDatabase",
            "unique constraint on (identity_hash)=(\\x00) at 12:30:01",
            "azure_core::token::Error, design=1, config=2",
            "",
            "äöü 日本語 \u{1f4a1}",
        ] {
            assert_eq!(redact(text), text);
        }
        assert_eq!(
            redact("Server=db;Password=hunter2;Encrypt=true"),
            "Server=db;Password=[redacted];Encrypt=true"
        );
        assert_eq!(
            redact("amqp://guest:hunter2@rabbit:5672"),
            "amqp://guest:[redacted]@rabbit:5672"
        );
    }

    proptest! {
        /// Any text at all, and texts made of what the rules look for.
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*", syntax in "([=:'\"`{}\\\\;&@/ \u{e9}]|password|sig|bearer|://){0,40}") {
            redact(&text);
            redact(&syntax);
        }

        /// INB-11: a quoted secret is removed whatever it holds and whatever stands around it.
        #[test]
        fn a_quoted_secret_is_always_removed(
            before in "[a-z ;]{0,10}",
            secret in "[a-zA-Z0-9;&=:@/ ]{0,10}hunter2[a-zA-Z0-9;&=:@/ ]{0,10}",
            after in "[a-z ;=]{0,10}",
        ) {
            let text = format!("{before};Password=\"{secret}\"{after}");
            prop_assert!(!redact(&text).contains(SECRET));
        }
    }
}
