use serde_json::Value;

use super::*;
use crate::account::{Evidence, Outcome, Sent};
use crate::events;

/// The report of a run that lost one of its messages.
fn with_report<T>(check: impl FnOnce(&Report<'_>) -> T) -> T {
    let file =
        events::read(&events::own_file().with_file_name("orders-with-bad-lines.jsonl")).unwrap();
    let plan = Plan::new(file.events, 1);
    let mut evidence = Evidence::default();
    for (number, id) in ["gone", "odd\nid", "old"].into_iter().enumerate() {
        evidence.sent.push(Sent {
            number,
            line: number + 1,
            message_id: id.to_owned(),
            session: None,
            event_type: "OrderArchived".to_owned(),
            repeated: false,
        });
    }
    let reason = "UnreadableEvent: no total".to_owned();
    evidence.outcomes.add(1, Outcome::DeadLettered(reason));
    evidence.outcomes.add(2, Outcome::Unsupported);
    let account = Account::of(&evidence);
    check(&Report {
        seed: 7,
        reading: &file.reading,
        plan: &plan,
        account: &account,
        kills: &[],
        verdict: &Verdict::default(),
        kept: None,
    })
}

#[test]
fn the_table_says_what_was_lost_and_why_others_were_set_aside() {
    let text = with_report(table);
    let row = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..]
            .split_whitespace()
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(row("bad lines"), "15");
    assert_eq!(row("published"), "3");
    assert_eq!(row("lost"), "1");
    assert!(text.contains("lost: \"gone\" (line 1)"), "{text}");
    assert!(
        text.contains("line 2 \"odd\\nid\": UnreadableEvent: no total"),
        "{text}"
    );
    let unsupported = "line 3 old: no handler takes the type OrderArchived";
    assert!(text.contains(unsupported), "{text}");
    assert!(text.contains("1 finding:"), "{text}");
    assert!(!text.contains("accounted for"), "{text}");
}

#[test]
fn the_document_says_the_same() {
    let text = with_report(|report| document(report).unwrap());
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["ok"], false);
    assert_eq!(document["seed"], 7);
    assert_eq!(document["totals"]["lost"], 1);
    assert_eq!(
        document["events"]["bad_lines"].as_array().unwrap().len(),
        15
    );
    assert_eq!(document["set_aside"][0]["fate"], "dead_lettered");
    assert_eq!(document["set_aside"][1]["fate"], "unsupported");
    let reason = &document["set_aside"][1]["reason"];
    assert_eq!(reason, "no handler takes the type OrderArchived");
    assert_eq!(document["findings"].as_array().unwrap().len(), 1);
}

#[test]
fn ids_are_shown_on_one_line_of_bounded_length() {
    assert_eq!(shown("order-1:placed:1"), "order-1:placed:1");
    assert_eq!(shown(""), "\"\"");
    assert_eq!(shown("a b"), "\"a b\"");
    assert_eq!(shown(&"x".repeat(600)).chars().count(), 61);
}
