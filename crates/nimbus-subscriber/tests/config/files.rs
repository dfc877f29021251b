//! What a file may hold, and what is said about the rest.

use std::time::Duration;

use nimbus_subscriber::{Configuration, SubscriberErrorKind};

use crate::support::{Bench, LEAST};

/// SUB-32: everything that is wrong is told at once, each with its key, what it takes and the
/// nearest known name; no value is repeated.
#[test]
fn every_problem_is_told_at_once_with_its_place() {
    let bench = Bench::new();
    let text = r#"
        endpoint = "BillingEndpoint"
        concurent_sessions = 4
        drain_deadline = 30
        session_idle = "0s"
        [transport]
        name = "inmemory"
        pat = "queue.db"
        [inbox]
        store = "inmemory"
        retention = "7 parsecs"
        cleanup_interval = "0s"
        purge_limit = 20_000
        purge_batches_per_pass = "many"
        [retry.default]
        backoff = "exponental"
        delay = "5s"
        max_retry = 5
        [[retry.rules]]
        error_contains = ""
        policy = { delay = true }
        [payment]
        url = "x"
    "#;
    // One key is known only with a feature.
    let problems = bench.problems(text, &[]).into_iter();
    let problems: Vec<_> = problems
        .map(|problem| problem.replace("inbound_trace, ", ""))
        .collect();
    assert_eq!(
        problems,
        [
            "concurent_sessions in billing.toml: this key is not known; did you mean \
             concurrent_sessions?",
            "drain_deadline in billing.toml: it takes a duration such as \"5s\", \"1h 30m\" or \
             \"7 days\", not a whole number",
            "inbox.cleanup_interval in billing.toml: the cleanup interval of the inbox is zero; \
             set a value above zero or leave the default",
            "inbox.purge_batches_per_pass in billing.toml: it takes a whole number, not this text",
            "inbox.purge_limit in billing.toml: a purge batch of 20000 records is outside 1 to \
             10000",
            "inbox.retention in billing.toml: it takes a duration such as \"5s\", \"1h 30m\" or \
             \"7 days\", not this text",
            "payment in billing.toml: this key is not known; known are circuit_breaker, \
             cloud_events, concurrent_sessions, content_mode, drain_deadline, endpoint, inbox, \
             resolver, retry, session_idle, session_store, timeout, transport",
            "retry.default.backoff in billing.toml: it takes one of \"fixed\", \"linear\", \
             \"exponential\", not this text",
            "retry.default.max_retry in billing.toml: this key is not known; did you mean \
             max_retries?",
            "retry.rules[0].error_contains in billing.toml: every text contains nothing; set \
             retry.default to retry them all",
            "retry.rules[0].policy.delay in billing.toml: it takes a duration such as \"5s\", \
             \"1h 30m\" or \"7 days\", not true or false",
            "session_idle in billing.toml: an idle session is kept for no time at all; keep it at \
             least a moment",
            "transport.pat in billing.toml: this key is not known; known are name",
        ]
    );
}

/// SUB-32: the error is the configuration's, and names the file.
#[test]
fn the_error_names_the_file() {
    let bench = Bench::new();
    let error = bench.load("endpoint = 5").unwrap_err();
    assert_eq!(error.kind(), SubscriberErrorKind::Configuration);
    let text = error.to_string();
    assert!(text.starts_with("the configuration /"), "{text}");
    assert!(
        text.contains("billing.toml is not configured right: "),
        "{text}"
    );
    assert!(
        text.contains("it takes a text, not a whole number"),
        "{text}"
    );
}

/// SUB-32: a file that isn't there, isn't text or isn't TOML: the path, and what to do.
#[test]
fn a_file_that_can_not_be_read_is_named() {
    let bench = Bench::new();
    let missing = bench.path().with_file_name("biling.toml");
    let none: [(&str, &str); 0] = [];
    let error = Configuration::load_with(&missing, &bench.providers, none).unwrap_err();
    let [problem] = error.problems() else {
        panic!("{error}")
    };
    let expected = format!(
        "there is no file {}; create it, or pass the path of the one to use",
        missing.display()
    );
    assert_eq!(*problem, expected);

    let directory = bench.path().with_file_name("");
    let error = Configuration::load_with(directory, &bench.providers, none).unwrap_err();
    assert!(error.problems()[0].contains("can't be read: "), "{error}");

    std::fs::write(bench.path(), b"endpoint = \"\xff\"").unwrap();
    let error = Configuration::load_with(bench.path(), &bench.providers, none).unwrap_err();
    assert!(error.problems()[0].contains("is not UTF-8 text"), "{error}");

    assert_eq!(
        bench.problems("endpoint = \"a\"\nendpoint = \"b\"", &[]),
        ["billing.toml is no TOML: line 2, column 1: duplicate key"]
    );
}

/// SUB-32: the least that a file has to say, and what is missing in less.
#[test]
fn what_is_missing_is_named() {
    let bench = Bench::new();
    let configuration = bench.load(LEAST).unwrap();
    assert_eq!(configuration.endpoint().as_str(), "BillingEndpoint");
    assert_eq!(configuration.path(), bench.path());
    assert_eq!(
        bench.problems("", &[]),
        [
            "endpoint in billing.toml: this key is missing; name the endpoint, such as \
             \"BillingEndpoint\"",
            "no transport is selected; set `name` in [transport]; registered are: inmemory, poor",
        ]
    );
    assert_eq!(
        bench.problems(
            &format!("{LEAST}[retry.default]\n[inbox]\nstore = \"acme\""),
            &[]
        ),
        [
            "inbox.host in billing.toml: this key is missing",
            "retry.default.delay in billing.toml: this key is missing",
        ]
    );
    let blank = bench.problems(&LEAST.replace("BillingEndpoint", " "), &[]);
    assert!(
        blank[0].contains("endpoint in billing.toml: the endpoint's name is blank"),
        "{blank:?}"
    );
}

/// SUB-20, SUB-32: every kind of retry policy can be written.
#[test]
fn retry_policies_are_read() {
    let bench = Bench::new();
    let text = format!(
        r#"{LEAST}
        [retry.default]
        delay = "5s"
        [retry.events."Order Placed"]
        backoff = "linear"
        delay = "1s"
        max_delay = "1 min"
        max_retries = 9
        jitter = "full"
        [[retry.rules]]
        error_contains = "Timeout"
        event_type = "OrderPaid"
        policy = {{ backoff = "fixed", delay = "250ms", jitter = "bounded", jitter_share = 0.2 }}
        "#
    );
    let shown = format!("{:?}", bench.load(&text).unwrap());
    for part in [
        "default: Some(RetryPolicy { backoff: Exponential(5s), jitter: Full, max_delay: 86400s, \
         max_retries: 3 })",
        "\"Order Placed\": RetryPolicy { backoff: Linear(1s), jitter: Full, max_delay: 60s, \
         max_retries: 9 }",
        "RetryRule { text: \"timeout\", event_type: Some(\"OrderPaid\"), policy: RetryPolicy { \
         backoff: Fixed(250ms), jitter: Bounded(0.2), max_delay: 86400s, max_retries: 3 } }",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    let share = |line: &str| {
        let text = format!("{LEAST}[retry.default]\ndelay = \"5s\"\n{line}");
        bench.problems(&text, &[]).join(" ")
    };
    assert!(share("jitter = \"bounded\"").contains("retry.default.jitter_share"));
    assert!(share("jitter = \"bounded\"\njitter_share = 2").contains("from 0 to 1"));
    assert!(share("jitter = \"full\"\njitter_share = 0.1").contains("only jitter = \"bounded\""));
    assert!(share("jitter_share = 0.1").contains("only jitter = \"bounded\""));
}

/// SUB-32: a tool reads the configuration of a program whose own sections it doesn't know, and what it
/// knows is checked as ever.
#[test]
fn a_tool_leaves_the_sections_of_programs_alone() {
    let bench = Bench::new();
    let tool = bench.providers.clone().leave_the_rest();
    let load = |text: &str| {
        std::fs::write(bench.path(), text).unwrap();
        let variables = [("NIMBUS__PAYMENT__URL", "https://bank")];
        nimbus_subscriber::Configuration::load_with(bench.path(), &tool, variables)
    };
    let text = format!("{LEAST}[payment]\nurl = \"x\"\n[payment.limits]\nlargest = 5\n");
    load(&text).unwrap();
    let problems = load(&format!(
        "{text}[inbox]\nstore = \"inmemory\"\nretension = \"5s\""
    ));
    let problems = problems.unwrap_err().problems().join("; ");
    assert!(problems.contains("did you mean retention?"), "{problems}");
}

/// SUB-32: a program's own section is typed and checked as all others; the tool's is left alone by
/// whoever doesn't read it.
#[test]
fn a_section_of_the_programs_own() {
    use crate::support::ResolverSettings;

    let bench = Bench::new();
    let text = format!("{LEAST}[resolver]\ndatabase = \"resolver.db\"");
    let configuration = bench.load(&text).unwrap();
    let resolver: &ResolverSettings = configuration.section("resolver").unwrap();
    let database: &std::path::Path = resolver.database.as_ref();
    assert_eq!(database, bench.path().with_file_name("resolver.db"));
    assert!(configuration.section::<Duration>("resolver").is_none());
    assert!(
        bench
            .load(LEAST)
            .unwrap()
            .section::<ResolverSettings>("resolver")
            .is_none()
    );
    assert_eq!(
        bench.problems(
            &format!("{LEAST}[resolver]\ndatabse = \"resolver.db\""),
            &[]
        ),
        [
            "resolver.database in billing.toml: this key is missing",
            "resolver.databse in billing.toml: this key is not known; did you mean database?",
        ]
    );

    std::fs::write(bench.path(), text.replace("database", "whatever")).unwrap();
    let others = nimbus_subscriber::Providers::new();
    let variables = [("NIMBUS__RESOLVER__ANYTHING", "1")];
    Configuration::load_with(bench.path(), &others, variables).unwrap();
}

/// SUB-25, SUB-32: how a message's span relates to its sender's can be configured.
#[cfg(feature = "opentelemetry")]
#[tokio::test]
async fn the_relation_to_the_senders_span_is_read() {
    let bench = Bench::new();
    let parent = format!("inbound_trace = \"parent\"\n{LEAST}");
    let configuration = bench.load(&parent).unwrap();
    let builder = format!("{:?}", configuration.subscriber().await.unwrap());
    assert!(builder.contains("inbound: Parent"), "{builder}");

    let wrong = format!("inbound_trace = \"child\"\n{LEAST}");
    assert_eq!(
        bench.problems(&wrong, &[]),
        ["inbound_trace in billing.toml: it takes one of \"link\", \"parent\", not this text"]
    );
}

/// SUB-06, SUB-23, SUB-32: timeouts, the circuit breaker and CloudEvents can be configured, with
/// what their builders refuse.
#[tokio::test]
async fn what_surrounds_handlers_is_read() {
    let bench = Bench::new();
    let text = format!(
        r#"content_mode = "auto-detect"
        {LEAST}
        [timeout]
        default = "30s"
        events = {{ OrderPlaced = "2 min" }}
        [circuit_breaker]
        failures = 5
        window = "1 min"
        open_for = "10s"
        open_at_most = "90s"
        probes = 2
        [cloud_events]
        event_type = {{ strip-prefix = "com.example." }}
        event_types = {{ "org.other.placed" = "OrderPlaced" }}
        session = ["subject", "from-broker"]
        "#
    );
    let configuration = bench.load(&text).unwrap();
    let shown = format!("{configuration:?}");
    for part in [
        "Timeouts { default: Some(30s), by_event_type: {\"OrderPlaced\": 120s} }",
        "CircuitBreaker { failures: 5, window: Some(60s), open_for: 10s, open_at_most: 90s, \
         probes: 2 }",
        "content_mode: Some(AutoDetect)",
        "event_type: StripPrefix(\"com.example.\"), event_types: {\"org.other.placed\": \
         \"OrderPlaced\"}, session: [Attribute(\"subject\"), Broker]",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let builder = format!("{:?}", configuration.subscriber().await.unwrap());
    for part in ["AutoDetect", "StripPrefix", "CircuitBreaker { failures: 5"] {
        assert!(builder.contains(part), "{part}: {builder}");
    }

    let wrong = format!(
        r#"content_mode = "auto"
        {LEAST}
        [timeout]
        default = "0s"
        events = {{ OrderPlaced = "0s" }}
        [circuit_breaker]
        probes = 2
        [cloud_events]
        event_type = "strip-prefix"
        "#
    );
    assert_eq!(
        bench.problems(&wrong, &[]),
        [
            "circuit_breaker.failures in billing.toml: this key is missing",
            "cloud_events.event_type in billing.toml: it takes one of \"as-is\", \
             \"last-segment\", { strip-prefix = … }, not this text",
            "content_mode in billing.toml: it takes one of \"native\", \"cloud-events\", \
             \"auto-detect\", not this text",
            "timeout.default in billing.toml: handlers get no time at all; give them at least a \
             moment",
            "timeout.events.OrderPlaced in billing.toml: handlers get no time at all; give them at \
             least a moment",
        ]
    );
    let breaker = format!("{LEAST}[circuit_breaker]\nfailures = 0\nopen_for = \"1 day\"");
    let breaker = bench.problems(&breaker, &[]);
    assert!(
        breaker[0].contains("opens after no failure at all"),
        "{breaker:?}"
    );
    assert!(
        breaker[1].contains("longer than it may at most"),
        "{breaker:?}"
    );
    for rule in [
        "{ as-is = 1 }",
        "{ strip-prefix = 1 }",
        "{ strip-prefix = \"a\", x = 1 }",
        "{}",
    ] {
        bench
            .load(&format!("{LEAST}[cloud_events]\nevent_type = {rule}"))
            .unwrap_err();
    }
}
