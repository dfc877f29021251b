use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, bail};
use nimbus_inbox_core::MessageId;

use super::fields::Fields;
use super::lines::{LONGEST, Line, Lines};
use super::{BadLine, Event, EventFile, Remark, cloud_event, order_event};

/// The event type that no handler gets.
const HEARTBEAT: &str = "Heartbeat";

const UTF_8_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a file. A bad line is kept with its reason and never fatal to the rest.
pub(crate) fn read(path: &Path) -> anyhow::Result<EventFile> {
    let shown = path.display();
    let found = fs::metadata(path).with_context(|| format!("can't read the events in {shown}"))?;
    if found.is_dir() {
        bail!("{shown} is a directory; name a file with one event a line");
    }
    let file = File::open(path).with_context(|| format!("can't read the events in {shown}"))?;
    let read =
        parse(BufReader::new(file)).with_context(|| format!("can't read the events in {shown}"))?;
    if read.reading.lines == 0 {
        bail!("{shown} is empty; it should hold one event a line");
    }
    Ok(read)
}

pub(super) fn parse(input: impl BufRead) -> anyhow::Result<EventFile> {
    let mut file = EventFile::default();
    let mut seen = Seen::default();
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next()? {
        let reading = &mut file.reading;
        reading.lines += 1;
        let number = reading.lines;
        let event = match line {
            Line::Whole(bytes) if number == 1 => {
                let bytes = without_mark(&bytes)?;
                reading.opens_an_array = bytes.trim_ascii_start().starts_with(b"[");
                parse_line(bytes)
            }
            Line::Whole(bytes) => parse_line(&bytes),
            Line::TooLong => Err(format!("longer than {} KiB", LONGEST / 1024)),
        };
        let admitted = event.and_then(|event| {
            seen.admit(Event {
                line: number,
                ..event
            })
        });
        match admitted {
            Ok((event, remark)) => {
                file.events.push(event);
                reading
                    .remarks
                    .extend(remark.map(|text| Remark { line: number, text }));
            }
            Err(reason) => reading.bad_lines.push(BadLine {
                line: number,
                reason,
            }),
        }
    }
    Ok(file)
}

/// The first line may start with a byte order mark, which is no part of the event.
fn without_mark(bytes: &[u8]) -> anyhow::Result<&[u8]> {
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        bail!("it is encoded as UTF-16; convert it to UTF-8");
    }
    Ok(bytes.strip_prefix(UTF_8_MARK).unwrap_or(bytes))
}

fn parse_line(bytes: &[u8]) -> Result<Event, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        format!(
            "not UTF-8: byte {} of the line is invalid",
            error.valid_up_to() + 1
        )
    })?;
    if text.trim().is_empty() {
        return Err("the line is empty".to_owned());
    }
    let fields = Fields::parse(text)?;
    let event = if fields.has("specversion") {
        cloud_event::parse(text)?
    } else if fields.has("messageId") || !fields.has("source") {
        order_event::parse(&fields)?
    } else {
        return Err(
            "neither messageId nor specversion: it is no order event and no CloudEvent".to_owned(),
        );
    };
    if event.event_type == HEARTBEAT {
        return Err(format!(
            "{HEARTBEAT} is no event: subscribers answer it themselves to show that they are alive"
        ));
    }
    Ok(event)
}

/// Ids that came before, with the session and the content they came with.
#[derive(Default)]
struct Seen(HashMap<String, First>);

struct First {
    line: usize,
    session: Option<String>,
    content: String,
}

impl Seen {
    /// Judges an event whose id came before; the remark is for its author.
    fn admit(&mut self, event: Event) -> Result<(Event, Option<String>), String> {
        if let Err(unusable) = MessageId::new(&event.message_id) {
            let remark = format!("its id is {unusable}, so the inbox can't recognise it");
            return Ok((event, Some(remark)));
        }
        let content = format!("{} {}", event.event_type, event.data.get());
        let Some(first) = self.0.get(&event.message_id) else {
            let first = First {
                line: event.line,
                session: event.session.clone(),
                content,
            };
            self.0.insert(event.message_id.clone(), first);
            return Ok((event, None));
        };
        let line = first.line;
        if first.session != event.session {
            // Two sessions run side by side: which of the two would be skipped is up to chance.
            return Err(format!(
                "its id belongs to the event on line {line}, which is in another session"
            ));
        }
        let remark = (first.content != content).then(|| {
            format!(
                "its id belongs to the event on line {line}, which says something else; the inbox \
                 goes by the id, so the second of them that can be handled is skipped"
            )
        });
        Ok((event, remark))
    }
}
