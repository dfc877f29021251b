//! Whatever a file holds, it is read or refused.

use proptest::prelude::*;

use crate::support::{Bench, LEAST};

/// SUB-32: keys that look like paths into arrays are keys, and allocate nothing.
#[test]
fn a_key_is_no_path() {
    let bench = Bench::new();
    for key in [
        "\"a[999999999999]\"",
        "\"inbox[-9223372036854775808].store\"",
        "\"endpoint.x\"",
    ] {
        let problems = bench.problems(&format!("{key} = 1\n{LEAST}"), &[]);
        assert!(
            problems[0].contains("this key is not known"),
            "{problems:?}"
        );
    }
}

/// SUB-32: numbers beyond every type, deep nesting and huge texts are refused.
#[test]
fn extremes_are_refused() {
    let bench = Bench::new();
    for text in [
        format!("concurrent_sessions = 99999999999999999999\n{LEAST}"),
        format!("concurrent_sessions = -1\n{LEAST}"),
        format!("concurrent_sessions = 0\n{LEAST}"),
        format!("drain_deadline = 1e999\n{LEAST}"),
        format!("drain_deadline = \"99999999999999999999 years\"\n{LEAST}"),
        format!("drain_deadline = 2026-11-30\n{LEAST}"),
        format!("x = {}{}\n{LEAST}", "[".repeat(50_000), "]".repeat(50_000)),
        format!("{} = 1\n{LEAST}", "x".repeat(1_000_000)),
    ] {
        bench.load(&text).unwrap_err();
    }
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("true".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f32>().prop_map(|n| format!("{n:?}").replace("NaN", "nan")),
        "[ -~]{0,12}".prop_map(|text| format!("{text:?}")),
        prop::sample::select(vec![
            "\"5s\"",
            "\"acme\"",
            "\"inmemory\"",
            "\"fixed\"",
            "[]",
            "[{}]",
            "{}",
            "{ a = 1 }",
            "1979-05-27",
            "\"\"",
            "[1, \"x\"]",
            "{ delay = \"1s\" }",
            "{ strip-prefix = \"a\" }",
        ])
        .prop_map(str::to_owned),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let section = prop::sample::select(vec![
        "[transport]",
        "[inbox]",
        "[session_store]",
        "[retry]",
        "[retry.default]",
        "[retry.events]",
        "[retry.events.OrderPlaced]",
        "[[retry.rules]]",
        "[resolver]",
        "[timeout]",
        "[circuit_breaker]",
        "[cloud_events]",
        "[other]",
    ]);
    let key = prop::sample::select(vec![
        "endpoint",
        "name",
        "store",
        "retention",
        "delay",
        "host",
        "password",
        "pool_size",
        "tls",
        "policy",
        "rules",
        "events",
        "default",
        "jitter",
        "jitter_share",
        "database",
        "concurrent_sessions",
        "session_idle",
        "event_type",
        "session",
        "failures",
        "inbox",
        "transport",
        "\"a.b[7]\"",
        "x",
    ]);
    prop_oneof![
        1 => section.prop_map(str::to_owned),
        3 => (key, value()).prop_map(|(key, value)| format!("{key} = {value}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// SUB-32: no text makes it panic, and every refusal says something.
    #[test]
    fn no_text_panics(text in "\\PC{0,60}", lines in prop::collection::vec(line(), 0..12)) {
        let bench = Bench::new();
        for text in [text, lines.join("\n"), format!("{LEAST}{}", lines.join("\n"))] {
            if let Err(error) = bench.load(&text) {
                prop_assert!(!error.problems().is_empty());
                prop_assert!(error.problems().iter().all(|problem| !problem.trim().is_empty()));
            }
        }
    }

    /// SUB-32: no variable makes it panic.
    #[test]
    fn no_variable_panics(
        name in "(INBOX|RETRY|TRANSPORT|EVENTS|RULES|DEFAULT|DELAY|STORE|_|__|é|x){0,6}",
        value in "\\PC{0,12}",
    ) {
        let bench = Bench::new();
        let name = format!("NIMBUS__{name}");
        let _ = bench.load_with(LEAST, &[(&name, &value)]);
    }
}
