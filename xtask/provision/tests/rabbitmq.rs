//! The command as an operator runs it against a broker.

use std::env;
use std::net::TcpStream;
use std::process::{Command, Output};

use nimbus_inbox_testing::{Namespace, ServiceTests};

const ADDRESS: &str = "NIMBUS_RABBITMQ_URL";
const STANDARD: &str = "amqp://guest:guest@127.0.0.1:5672/%2f";

fn run(arguments: &[&str]) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_nimbus-provision"))
        .args(arguments)
        .output()
        .expect("the program runs");
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output, text)
}

fn address() -> String {
    env::var(ADDRESS).unwrap_or_else(|_| STANDARD.to_owned())
}

/// SUB-33: without declaring, what is missing is named; printing declares nothing.
async fn what_is_printed_is_what_is_missing() {
    let endpoint = Namespace::unique().name().to_owned();
    let address = address();
    let common = [
        "--rabbitmq",
        &address,
        "--endpoint",
        &endpoint,
        "--prefix",
        "nimbus-none.",
    ];
    let (output, printed) = run(&[&common[..], &["--partitions", "4", "--dry-run"]].concat());
    assert!(output.status.success(), "{printed}");
    let queue = format!("queue nimbus-none.{endpoint}.3 (quorum, x-single-active-consumer=true");
    assert!(printed.contains(&queue), "{printed}");
    assert!(!printed.contains(&format!("{endpoint}.4 (")), "{printed}");
    let (output, told) = run(&[&common[..], &["--check"]].concat());
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("there is no exchange nimbus-none.delay.end"),
        "{told}"
    );
}

/// SUB-32: a password on the command line is not repeated.
async fn a_planted_password_is_not_repeated() {
    let (output, told) = run(&[
        "--rabbitmq",
        "amqp://guest:hunter2-planted@127.0.0.1:5672/%2f",
        "--endpoint",
        "Billing",
        "--check",
    ]);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(!told.contains("hunter2-planted"), "{told}");
}

fn tests() -> ServiceTests {
    let tests = ServiceTests::new("provision")
        .test(
            "what_is_printed_is_what_is_missing",
            what_is_printed_is_what_is_missing,
        )
        .test(
            "a_planted_password_is_not_repeated",
            a_planted_password_is_not_repeated,
        );
    if env::var_os(ADDRESS).is_some() || TcpStream::connect("127.0.0.1:5672").is_ok() {
        tests
    } else {
        tests.unavailable(format!("rabbitmq: no broker on port 5672; set {ADDRESS}"))
    }
}

nimbus_inbox_testing::conformance!(suites: tests());
