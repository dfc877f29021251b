//! What variables override.

use std::path::Path;
use std::time::Duration;

use crate::support::{Bench, LEAST, ResolverSettings};

const ACME: &str = "endpoint = \"BillingEndpoint\"\n[transport]\nname = \"inmemory\"\n\
                    [inbox]\nstore = \"acme\"\nhost = \"db\"\n";

/// SUB-32: variables override the file, in any letters, and what they hold is read as what the key
/// takes: a password that looks like a number stays a text.
#[tokio::test]
async fn variables_override_the_file() {
    let bench = Bench::new();
    let configuration = bench
        .load_with(
            ACME,
            &[
                ("NIMBUS__ENDPOINT", "ShippingEndpoint"),
                ("NIMBUS__INBOX__HOST", "5432"),
                ("NIMBUS__INBOX__PASSWORD", "007"),
                ("nimbus__inbox__pool_size", "16"),
                ("NIMBUS__INBOX__TLS", "true"),
                ("NIMBUS__INBOX__CONNECT_TIMEOUT", "1m 5s"),
                ("NIMBUS__INBOX__CERTIFICATE", "tls/ca.pem"),
                ("NIMBUS__INBOX__RETENTION", "9 days"),
                ("NIMBUS__RETRY__EVENTS__OrderPlaced__DELAY", "3s"),
                ("NIMBUS__RESOLVER__DATABASE", "/var/resolver.db"),
                ("PATH", "/bin"),
            ],
        )
        .unwrap();
    let inbox = configuration.open_inbox().await.unwrap().unwrap();
    assert_eq!(inbox.endpoint().as_str(), "ShippingEndpoint");
    let week = Duration::from_secs(24 * 60 * 60);
    assert_eq!(inbox.options().retention_period(), 9 * week);
    let acme = bench.opened.last();
    assert_eq!(acme.host, "5432");
    assert_eq!(acme.password.unwrap().expose(), "007");
    assert_eq!(acme.pool_size, Some(16));
    assert_eq!(acme.tls, Some(true));
    assert_eq!(acme.connect_timeout.unwrap().0, Duration::from_secs(65));
    let certificate = acme.certificate.unwrap();
    let certificate: &Path = certificate.as_ref();
    assert_eq!(certificate, bench.path().with_file_name("tls/ca.pem"));
    let resolver: &ResolverSettings = configuration.section("resolver").unwrap();
    assert_eq!(resolver.database.as_ref(), Path::new("/var/resolver.db"));
    let shown = format!("{configuration:?}");
    assert!(
        shown.contains("\"OrderPlaced\": RetryPolicy { backoff: Exponential(3s)"),
        "{shown}"
    );
}

/// SUB-32: a variable with our prefix that names nothing is refused, with the nearest that does;
/// so is one whose value is not what its key takes.
#[test]
fn a_variable_that_names_nothing_is_refused() {
    let bench = Bench::new();
    let variables = [
        ("NIMBUS__INBOX__RETENTON", "9 days"),
        ("NIMBUS__INBOX_RETENTION", "9 days"),
        ("NIMBUS__INBOX__POOL_SIZE", "many"),
        ("NIMBUS__INBOX__TLS", "yes"),
        ("NIMBUS__INBOX", "acme"),
        ("NIMBUS__RETRY__RULES__0__DELAY", "1s"),
        ("NIMBUS__RETRY__EVENTS__OrderPlaced__DELY", "1s"),
        ("NIMBUS__", "1s"),
        ("NIMBUS__DRAIN_DEADLINE", ""),
        ("NIMBUS__INBOX__STORE", "acme"),
        ("nimbus__inbox__store", "acme"),
    ];
    let problems = bench.problems(ACME, &variables);
    for expected in [
        "NIMBUS__INBOX__RETENTON: it names no setting; did you mean NIMBUS__INBOX__RETENTION?",
        "NIMBUS__INBOX_RETENTION: it names no setting; did you mean NIMBUS__INBOX__RETENTION?",
        "NIMBUS__INBOX__POOL_SIZE: it takes a whole number, not this text",
        "NIMBUS__INBOX__TLS: it takes true or false, not this text",
        "NIMBUS__INBOX: it names a section and not one of its keys; add the name of a key",
        "NIMBUS__RETRY__RULES__0__DELAY: a list can only be given in the file",
        "NIMBUS__RETRY__EVENTS__OrderPlaced__DELY: it names no setting; did you mean \
         NIMBUS__RETRY__EVENTS__OrderPlaced__DELAY?",
        "NIMBUS__DRAIN_DEADLINE: it takes a duration such as \"5s\", \"1h 30m\" or \"7 days\", \
         not an empty text",
        "nimbus__inbox__store: it is set more than once, in different letters; keep one",
    ] {
        let expected =
            format!("the environment variable {expected}").replace("nimbus__", "NIMBUS__");
        assert!(problems.contains(&expected), "{expected}: {problems:#?}");
    }
    assert_eq!(problems.len(), variables.len() - 1, "{problems:#?}");
}

/// SUB-32: one environment can serve several configurations: a variable that only a provider knows
/// that this file didn't select is left alone.
#[test]
fn a_variable_of_another_provider_is_left_alone() {
    let bench = Bench::new();
    let in_memory = format!("{LEAST}[inbox]\nstore = \"inmemory\"");
    let variables = [
        ("NIMBUS__INBOX__PASSWORD", "x"),
        ("NIMBUS__INBOX__POOL_SIZE", "x"),
    ];
    bench.load_with(&in_memory, &variables).unwrap();
    let unknown = bench.problems(&in_memory, &[("NIMBUS__INBOX__PASWORD", "x")]);
    assert!(unknown[0].contains("it names no setting"), "{unknown:?}");
}

/// SUB-32: a variable that only looks like a setting is not read, and a warning says how it would
/// be called.
#[test]
fn a_variable_that_looks_like_a_setting_is_warned_about() {
    let logs = crate::support::Logs::capture();
    let bench = Bench::new();
    let variables = [("NIMBUS_DRAIN_DEADLINE", "x"), ("NIMBUS_HOME", "/x")];
    bench.load_with(LEAST, &variables).unwrap();
    let text = logs.text();
    assert!(text.contains("WARN"), "{text}");
    assert!(text.contains("call it NIMBUS__DRAIN_DEADLINE"), "{text}");
    assert!(!text.contains("NIMBUS_HOME"), "{text}");
}

/// SUB-32: variables that are not Unicode are problems or nobody's, and never a panic.
#[cfg(unix)]
#[test]
fn variables_that_are_not_unicode() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use nimbus_subscriber::Configuration;

    let bench = Bench::new();
    bench.load(LEAST).unwrap();
    let broken = || OsString::from_vec(vec![0xff, b'x']);
    let load = |name: OsString| {
        Configuration::load_with(bench.path(), &bench.providers, [(name, broken())])
    };
    load(broken()).unwrap();
    let error = load("NIMBUS__DRAIN_DEADLINE".into()).unwrap_err();
    assert!(
        error.to_string().contains("its value is not UTF-8 text"),
        "{error}"
    );
}
