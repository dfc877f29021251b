use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes.
///
/// An event travels as a JSON string inside JSON, which can double it, and the embedded queue takes
/// messages of up to 1 MiB.
pub(super) const LONGEST: usize = 256 * 1024;

/// One line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// Longer than [`LONGEST`]; none of it is kept.
    TooLong,
}

/// Reads lines without ever holding more than one of bounded length: a file without line ends may
/// be larger than memory.
pub(super) struct Lines<R>(R);

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self(input)
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let longest = u64::try_from(LONGEST).unwrap_or(u64::MAX);
        // Two more for the line's end, which may be CR LF.
        let mut bounded = self.0.by_ref().take(longest.saturating_add(2));
        if bounded.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let ended = strip_end(&mut line);
        if line.len() <= LONGEST {
            return Ok(Some(Line::Whole(line)));
        }
        if !ended {
            self.skip_to_end()?;
        }
        Ok(Some(Line::TooLong))
    }

    fn skip_to_end(&mut self) -> io::Result<()> {
        self.0.skip_until(b'\n').map(drop)
    }
}

/// Removes the line's end; `false` when there is none.
fn strip_end(line: &mut Vec<u8>) -> bool {
    let ended = line.pop_if(|byte| *byte == b'\n').is_some();
    if ended {
        let _ = line.pop_if(|byte| *byte == b'\r');
    }
    ended
}
