use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use config::{ConfigError, File, FileFormat, Source};

use super::Table;

/// The values of a TOML file.
///
/// # Errors
///
/// What is wrong with the file and what to do, without a line of it: it may hold a secret.
pub(in crate::config) fn read(path: &Path) -> Result<Table, String> {
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "there is no file {}; create it, or pass the path of the one to use",
            absolute(path)
        ),
        _ => format!(
            "{} can't be read: {error}; make it readable for this process",
            absolute(path)
        ),
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("{} is not UTF-8 text; save it as UTF-8", absolute(path)))?;
    // As a source of its own: a builder would take its top-level keys for paths into arrays.
    let file = File::from_str(&text, FileFormat::Toml);
    file.collect().map_err(|error| {
        let reason = syntax(&error);
        format!("{} is no TOML: {reason}", path.display())
    })
}

/// Where the syntax is wrong, and how. The parser's text also quotes the line, which is left out.
fn syntax(error: &ConfigError) -> String {
    let ConfigError::FileParse { cause, .. } = error else {
        return "its values can't be read".to_owned();
    };
    let text = cause.to_string();
    let mut lines = text.lines();
    let place = lines
        .next()
        .and_then(|line| line.strip_prefix("TOML parse error at "));
    match place {
        Some(place) => {
            // After the quoted line comes a row that marks the column, then the reason.
            let reason: Vec<_> = lines.skip(3).collect();
            format!("{place}: {}", reason.join(", "))
        }
        None => "a number is out of range".to_owned(),
    }
}

fn absolute(path: &Path) -> String {
    let absolute = std::path::absolute(path);
    absolute.as_deref().unwrap_or(path).display().to_string()
}
