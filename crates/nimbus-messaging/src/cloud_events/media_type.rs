//! Media types: `type/subtype; name=value`, names without case (RFC 2045, RFC 2046).

use super::CloudEventFault;
use super::text::shown;

/// A media type taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MediaType {
    /// `type/subtype` in lower case.
    pub(super) essence: String,
    charset: Option<String>,
}

impl MediaType {
    /// Takes a text apart; `None` when it is no media type.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = split_parameters(text)?.into_iter();
        let essence = parts.next()?.trim().to_ascii_lowercase();
        let (main, sub) = essence.split_once('/')?;
        if !is_token(main) || !is_token(sub) {
            return None;
        }
        let mut charset = None;
        for parameter in parts {
            // A semicolon at the end is a slip that many make.
            if parameter.trim().is_empty() {
                continue;
            }
            let (name, value) = parameter.split_once('=')?;
            let (name, value) = (name.trim(), value.trim());
            let quoted = value
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            if !is_token(name) || !(quoted.is_some() || is_token(value)) {
                return None;
            }
            if name.eq_ignore_ascii_case("charset") {
                charset = Some(quoted.unwrap_or(value).to_ascii_lowercase());
            }
        }
        Some(Self { essence, charset })
    }

    /// Whether content of this type is JSON.
    pub(super) fn is_json(&self) -> bool {
        let subtype = self.essence.split_once('/').map_or("", |(_, sub)| sub);
        subtype == "json" || subtype.ends_with("+json")
    }

    /// JSON is UTF-8, whatever else a charset may claim.
    pub(super) fn require_utf_8(&self) -> Result<(), CloudEventFault> {
        match self.charset.as_deref() {
            None | Some("utf-8" | "utf8" | "us-ascii") => Ok(()),
            Some(other) => Err(CloudEventFault::Charset {
                charset: shown(other),
            }),
        }
    }
}

/// Splits at the semicolons outside quotes; `None` when a quote stays open.
fn split_parameters(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b';' if !quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (!quoted).then_some(parts)
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUB-06: the content type is read without case, parameters and suffixes included.
    #[test]
    fn json_is_recognised_by_its_subtype() {
        let json = |text: &str| MediaType::parse(text).is_some_and(|found| found.is_json());
        assert!(json("application/json"));
        assert!(json("Text/JSON ; CharSet=\"UTF-8\";"));
        assert!(json("application/vnd.shop.order+json; v=\"1;2\""));
        assert!(!json("application/xml"));
        assert!(!json("application/jsonp"));
        assert!(!json("application/json+zip"));
        for text in [
            "",
            "json",
            "/json",
            "application/",
            "a/b/c",
            "a/b; c",
            "a/b; c=\"d",
            "a b/c",
        ] {
            assert_eq!(MediaType::parse(text), None, "{text:?}");
        }
    }

    /// SUB-06: JSON in another charset is refused.
    #[test]
    fn json_is_utf_8() {
        let read = |text: &str| MediaType::parse(text).unwrap().require_utf_8();
        assert_eq!(read("application/json"), Ok(()));
        assert_eq!(read("application/json; charset=UTF-8"), Ok(()));
        assert_eq!(
            read("application/json; charset=utf-16"),
            Err(CloudEventFault::Charset {
                charset: "utf-16".to_owned()
            })
        );
    }
}
