//! Secrets come from the environment and are seen nowhere.

use std::error::Error;

use crate::support::{Bench, LEAST, Logs, PLANTED};

fn acme(lines: &str) -> String {
    format!("{LEAST}[inbox]\nstore = \"acme\"\nhost = \"db\"\n{lines}")
}

/// SUB-32: a secret in the file is refused, also where a variable gives it too, and the text says
/// which variable to set.
#[test]
fn a_secret_in_the_file_is_refused() {
    let bench = Bench::new();
    let expected = "inbox.password in billing.toml: a file must not hold this secret; delete it \
                    and set the environment variable NIMBUS__INBOX__PASSWORD instead";
    let text = acme(&format!("password = \"{PLANTED}\""));
    assert_eq!(bench.problems(&text, &[]), [expected]);
    let variables = [("NIMBUS__INBOX__PASSWORD", "x")];
    assert_eq!(bench.problems(&text, &variables), [expected]);
    assert_eq!(bench.problems(&acme("password = 7"), &[]), [expected]);
}

/// SUB-32: no error, no debug text and no log line shows a secret, wherever it was put: at the right
/// place, at a wrong one, in a malformed URL, or in a file that is no TOML.
#[tokio::test]
async fn a_secret_is_seen_nowhere() {
    let logs = Logs::capture();
    let bench = Bench::new();
    let url = format!("postgres://billing:{PLANTED}@[db:5432");
    let lines = [
        format!("password = \"{PLANTED}\""),
        format!("pool_size = \"{PLANTED}\""),
        format!("connect_timeout = \"{url}\""),
        format!("tls = \"{url}\""),
        format!("url = \"{url}\""),
        format!("retention = \"{PLANTED}\""),
        format!("password = {PLANTED}"),
        format!("password = \"{PLANTED}"),
        format!("password = \"{PLANTED}\" {PLANTED}"),
        format!("password = '{PLANTED}\\"),
        format!("password = [\"{PLANTED}\""),
        format!("password = \"\\{PLANTED}\""),
        format!("[inbox]\npassword = \"{PLANTED}\""),
        format!("[[host]]\npassword = \"{PLANTED}\""),
        format!("host.x = \"{PLANTED}\""),
        format!("[retry.default]\ndelay = \"{url}\""),
        format!("[transport]\nname = \"{PLANTED}\""),
    ];
    let mut shown = String::new();
    for line in lines {
        let error = bench.load(&acme(&line)).expect_err(&line);
        shown += &format!("{error} {error:?} {:?}\n", error.source());
    }
    for key in [
        "POOL_SIZE",
        "TLS",
        "CONNECT_TIMEOUT",
        "RETENTION",
        "URL",
        "PASSWORD__X",
    ] {
        let variable = format!("NIMBUS__INBOX__{key}");
        let error = bench
            .load_with(&acme(""), &[(&variable, &url)])
            .expect_err(key);
        shown += &format!("{error} {error:?} {:?}\n", error.source());
    }
    let variables = [("NIMBUS__INBOX__PASSWORD", url.as_str())];
    let configuration = bench.load_with(&acme(""), &variables).unwrap();
    let inbox = configuration.open_inbox().await.unwrap();
    let settings = bench.opened.last();
    shown += &format!(
        "{configuration:?} {inbox:?} {settings:?} {:?}",
        bench.providers
    );
    let builder = configuration.subscriber().await.unwrap();
    shown += &format!("{builder:?}");

    assert_eq!(settings.password.unwrap().expose(), url);
    assert!(!shown.contains(PLANTED), "{shown}");
    assert!(!logs.text().contains(PLANTED), "{}", logs.text());
}
