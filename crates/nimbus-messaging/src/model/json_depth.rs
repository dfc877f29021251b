//! A bound on nesting that is checked before anything is built from untrusted JSON.

use super::MalformedMessage;

/// The deepest nesting of arrays and objects that is read (SUB-03).
pub(crate) const MAX_DEPTH: usize = 32;

/// Refuses JSON that nests deeper than [`MAX_DEPTH`]. Anything else is left to the parser.
pub(crate) fn check(json: &[u8]) -> Result<(), MalformedMessage> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in json {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(MalformedMessage::TooDeep { limit: MAX_DEPTH });
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_only_brackets_outside_strings() {
        let deep = format!("{}1{}", "[".repeat(32), "]".repeat(32));
        assert_eq!(check(deep.as_bytes()), Ok(()));
        let deeper = format!("[{deep}]");
        assert_eq!(
            check(deeper.as_bytes()),
            Err(MalformedMessage::TooDeep { limit: 32 })
        );
        let quoted = format!(r#"{{"a":"{}\"[["}}"#, "[".repeat(100));
        assert_eq!(check(quoted.as_bytes()), Ok(()));
    }
}
