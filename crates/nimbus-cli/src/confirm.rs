//! A second look before something is given up for good.

use std::io::{IsTerminal, Write, stderr, stdin};

use crate::failure::Failure;

/// Asks whether to go on, unless `yes` was said before.
pub(crate) fn confirm(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !stdin().is_terminal() {
        return Err(Failure::refused(format!(
            "{question} Nobody can answer here; say --yes if it is meant"
        )));
    }
    let mut prompt = stderr();
    let _ = write!(prompt, "{question} [y/N] ").and_then(|()| prompt.flush());
    let mut answer = String::new();
    let _ = stdin().read_line(&mut answer);
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::refused("nothing was done")),
    }
}
