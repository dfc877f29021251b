//! The demo itself, as a user runs it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A run takes a few seconds; a machine that does other things too may take its time, and the first
/// run builds the `nimbus` tool where nothing else has.
const LONGEST_RUN: Duration = Duration::from_secs(280);

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(name)
}

/// Runs the demo and gives up on it when it takes too long.
fn demo(arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nimbus-demo"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the demo starts");
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the demo can be waited for") {
            break status;
        }
        if start.elapsed() > LONGEST_RUN {
            let _ = child.kill();
            panic!("the demo did not end within {LONGEST_RUN:?}");
        }
        thread::sleep(Duration::from_millis(20));
    };
    Output {
        status,
        stdout: out.join().expect("all of its output is read"),
        stderr: err.join().expect("all of its errors are read"),
    }
}

/// Reads to the end meanwhile, so that a full pipe stops nobody.
fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut text = Vec::new();
        let mut pipe = pipe.expect("the output is a pipe");
        pipe.read_to_end(&mut text).expect("a pipe can be read");
        text
    })
}

fn document(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error} in {output:?}\n{errors}"))
}

/// INB-06, INB-40: killed between record and settlement, a message is skipped when it comes again;
/// killed between handler and record, it runs once more, and the account says so. SUB-12, SUB-15:
/// an operator's resubmission and the end of a handoff free their sessions, and what waited follows.
#[test]
fn the_main_job_works_through_hard_kills() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("events.jsonl");
    let own = fs::read_to_string(data("orders.jsonl")).unwrap();
    let some: Vec<&str> = own.lines().take(120).collect();
    fs::write(&file, some.join("\n")).unwrap();

    let output = demo(&["--json", "--seed", "3", "--events", file.to_str().unwrap()]);
    let document = document(&output);
    assert!(output.status.success(), "{document:#}");
    assert_eq!(document["ok"], true, "{document:#}");
    assert_eq!(document["findings"], Value::Array(Vec::new()));
    let totals = &document["totals"];
    assert_eq!(totals["lost"], 0);
    assert_eq!(totals["out_of_order"], 0);
    assert_eq!(totals["handled"], 120);
    assert_eq!(totals["duplicates"], totals["published_again"]);
    assert!(totals["retried"].as_u64().unwrap() > 0, "{document:#}");
    assert!(totals["parked"].as_u64().unwrap() > 0, "{document:#}");

    let kill = |point: &str| {
        let kills = document["kills"].as_array().unwrap();
        let kill = kills.iter().find(|kill| kill["point"] == point).unwrap();
        assert_eq!(kill["hit"], true, "{document:#}");
        kill.clone()
    };
    let (record, settlement) = (kill("before_record"), kill("before_settlement"));
    let again = document["executed_again"].as_array().unwrap();
    let is = |kill: &Value, one: &Value| one["message_id"] == kill["message_id"];
    let found = again.iter().find(|one| is(&record, one)).unwrap();
    assert_eq!(found["causes"][0], "killed_before_record");
    assert!(
        !again.iter().any(|one| is(&settlement, one)),
        "{document:#}"
    );
    assert!(
        totals["redeliveries_skipped"].as_u64().unwrap() > 0,
        "{document:#}"
    );
    let operator = &document["operator"];
    assert_eq!(operator["resubmitted"], "order-9001:payment-captured:1");
    assert_eq!(operator["handed_off"], "order-9002:refund-issued:1");
    assert_eq!(
        (&operator["lost"], &operator["replayed"]),
        (&0.into(), &3.into())
    );
    assert_eq!(operator["in_order"], true, "{document:#}");
    assert_eq!(operator["findings"], Value::Array(Vec::new()));
    // What the first consumer left open is not told of the second.
    let left_open = settlement["handled_not_recorded"].as_array().unwrap();
    assert!(!left_open.contains(&record["message_id"]), "{document:#}");
}

/// Bad lines are left out and counted; messages that no handler can take are set aside with the
/// reason; both kinds of event files mix.
#[test]
fn bad_lines_and_messages_cost_nothing_but_themselves() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("events.jsonl");
    let mut lines = fs::read(data("orders-with-bad-lines.jsonl")).unwrap();
    lines.extend_from_slice(
        br#"{"specversion":"1.0","id":"1","source":"/shop","type":"OrderShipped","data":{}}"#,
    );
    fs::write(&file, lines).unwrap();

    let output = demo(&["--events", file.to_str().unwrap()]);
    let table = String::from_utf8(output.stdout).unwrap();
    let story = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{table}{story}");
    let row = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(name)).unwrap();
        let count = line[name.len()..].split_whitespace().next().unwrap();
        count.parse::<usize>().unwrap()
    };
    assert_eq!(row("bad lines"), 15);
    assert_eq!(row("handled"), 15, "{table}");
    assert_eq!(row("dead-lettered") + row("unsupported"), 3, "{table}");
    assert_eq!(row("lost"), 0);
    assert!(story.contains("line 5: no messageId"), "{story}");
    assert!(table.contains("nested more than 32 levels"), "{table}");
    assert!(table.contains("Every message is accounted for."), "{table}");
    assert!(table.contains("in order                yes"), "{table}");
    for command in [
        "$ nimbus sessions show order-9001\n",
        "$ nimbus resubmit order-9001:payment-captured:1\n",
        "$ nimbus handoff complete order-9002:refund-issued:1\n",
    ] {
        assert!(story.contains(command), "{story}");
    }
}

#[test]
fn without_events_there_is_nothing_to_show() {
    let output = demo(&["--events", "/nowhere/events.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let story = String::from_utf8(output.stderr).unwrap();
    assert!(story.contains("/nowhere/events.jsonl"), "{story}");
}

#[test]
fn a_file_without_its_option_is_refused_with_a_hint() {
    let output = demo(&["orders.jsonl"]);
    assert_eq!(output.status.code(), Some(2));
    let story = String::from_utf8(output.stderr).unwrap();
    assert!(story.contains("`--events orders.jsonl`"), "{story}");
}

#[test]
fn what_is_kept_can_be_inspected() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("events.jsonl");
    let own = fs::read_to_string(data("orders.jsonl")).unwrap();
    fs::write(&file, own.lines().next().unwrap()).unwrap();

    let output = demo(&["--json", "--keep", "--events", file.to_str().unwrap()]);
    let document = document(&output);
    assert_eq!(document["ok"], true, "{document:#}");
    // A file of one event is killed at both points all the same.
    assert_eq!(document["kills"].as_array().unwrap().len(), 2);
    let kept = PathBuf::from(document["directory"].as_str().unwrap());
    for name in [
        "queue.db",
        "inbox.db",
        "ledger.db",
        "consumer.log",
        "billing.toml",
        "resolver.db",
    ] {
        assert!(kept.join(name).is_file(), "{name}");
    }
    fs::remove_dir_all(kept).unwrap();
}
