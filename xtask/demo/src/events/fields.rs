use std::collections::BTreeMap;

use nimbus_inbox_core::Timestamp;
use serde_json::value::RawValue;

/// The longest id, name or type that is read, in bytes. Messages carry them as properties, several
/// times over.
pub(super) const LONGEST_TEXT: usize = 4 * 1024;

/// The members of one JSON object, each still as it was written.
pub(super) struct Fields(BTreeMap<String, Box<RawValue>>);

impl Fields {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        // First as any JSON: "an array" says more than "expected a map".
        let any: &RawValue = serde_json::from_str(text).map_err(|error| not_json(&error))?;
        if !any.get().starts_with('{') {
            return Err(format!("{}, not an object", kind(any)));
        }
        serde_json::from_str(text)
            .map(Self)
            .map_err(|error| not_json(&error))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A string that must be there. It may be empty.
    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        let raw = self.required(name)?;
        if !raw.get().starts_with('"') {
            return Err(format!("{name} is {}, not a string", kind(raw)));
        }
        let text: String = serde_json::from_str(raw.get())
            .map_err(|_| format!("{name} is a string with an invalid escape"))?;
        if text.len() > LONGEST_TEXT {
            return Err(format!("{name} is longer than {LONGEST_TEXT} bytes"));
        }
        Ok(text)
    }

    /// A string that must be there and say something.
    pub(super) fn name(&self, name: &str) -> Result<String, String> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            return Err(format!("{name} is empty"));
        }
        Ok(text)
    }

    /// An object that must be there, as it was written.
    pub(super) fn object(&self, name: &str) -> Result<Box<RawValue>, String> {
        object(name, self.required(name)?.get())
    }

    fn required(&self, name: &str) -> Result<&RawValue, String> {
        self.0
            .get(name)
            .map(|raw| &**raw)
            .ok_or_else(|| format!("no {name}"))
    }
}

/// An object, as it was written.
pub(super) fn object(name: &str, json: &str) -> Result<Box<RawValue>, String> {
    let raw: &RawValue = serde_json::from_str(json).map_err(|error| not_json(&error))?;
    if !raw.get().starts_with('{') {
        return Err(format!("{name} is {}, not an object", kind(raw)));
    }
    Ok(raw.to_owned())
}

/// Checks that a text is an instant.
pub(super) fn instant(name: &str, text: &str) -> Result<(), String> {
    text.parse::<Timestamp>()
        .map(drop)
        .map_err(|_| format!("{name} is not an RFC 3339 instant such as 2026-09-14T06:12:05Z"))
}

fn kind(raw: &RawValue) -> &'static str {
    match raw.get().bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a truth value",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The reader of JSON sees one line, so only the column says something.
fn not_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text
        .split(" at line ")
        .next()
        .unwrap_or("it is malformed")
        .to_owned();
    format!("not JSON: {what} at column {}", error.column())
}
