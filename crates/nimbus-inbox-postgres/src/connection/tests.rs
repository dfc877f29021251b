use std::path::Path;

use nimbus_inbox_core::ErrorKind;

use super::*;

const PLANTED: &str = "hunter2";

fn config(text: &str) -> Config {
    let connection = PostgresConnection::parse(text).expect(text);
    connection.driver_config().expect(text)
}

#[test]
fn tls_is_off_only_where_somebody_says_so() {
    for text in [
        "postgres://app@db/billing",
        "postgres://app@db/billing?sslmode=prefer",
        "postgres://app@db/billing?sslmode=require",
        "postgres://app@db/billing?sslmode=verify-full",
        "postgres://app@db/billing?application_name=a&sslmode=verify-ca",
        "host=db user=app",
        "host=db hostaddr=10.0.0.1 sslmode=prefer",
    ] {
        assert_eq!(config(text).get_ssl_mode(), SslMode::Require, "{text}");
    }
    let off = "postgres://app@db/billing?sslmode=disable";
    assert_eq!(config(off).get_ssl_mode(), SslMode::Disable);
    let connection = PostgresConnection::parse(off).expect("readable");
    let on_again = connection.with_tls(TlsMode::Verified).driver_config();
    let mode = on_again.expect("readable").get_ssl_mode();
    assert_eq!(mode, SslMode::Require);
    // The kernel carries it, and PostgreSQL has no TLS there.
    let socket = config("host=/run/postgresql user=app");
    assert_eq!(socket.get_ssl_mode(), SslMode::Disable);
}

#[test]
fn what_the_string_says_is_kept_and_the_rest_is_bounded() {
    let config = config("postgres://app@db/billing?connect_timeout=9&application_name=ledger");
    assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(9)));
    assert_eq!(config.get_application_name(), Some("ledger"));
    assert_eq!(config.get_tcp_user_timeout(), Some(&UNACKNOWLEDGED));
    assert_eq!(config.get_keepalives_idle(), KEEPALIVE_IDLE);
}

/// INB-11: a password that was planted in any place shows nowhere.
#[test]
fn no_password_is_ever_shown() {
    for text in [
        "postgres://app:hunter2@db:6432/billing",
        "host=db user=app password=hunter2",
    ] {
        let connection = PostgresConnection::parse(text).expect("readable");
        let shown = format!("{connection:?} {connection:#?} {connection}");
        assert!(!shown.contains(PLANTED), "{shown}");
        assert!(shown.contains("db:"), "{shown}");
        let config = connection.driver_config().expect("readable");
        assert!(!format!("{config:?}").contains(PLANTED));
    }
    let apart = PostgresConnection::parse("host=db").expect("readable");
    let apart = apart.with_password(PLANTED);
    assert!(!format!("{apart:?}").contains(PLANTED));
    let config = apart.driver_config().expect("readable");
    assert_eq!(config.get_password(), Some(PLANTED.as_bytes()));
}

/// INB-11: nor by the refusal of a string that can't be read.
#[test]
fn a_refusal_repeats_nothing_of_the_string() {
    for text in [
        "",
        "hunter2",
        "postgre://app:hunter2@db/billing",
        "host=db password=two hunter2=3",
        "host=db password=two hunter2",
        "host=db password='hunter2",
        "postgres://app:hunter2@db:hunter2/billing",
        "postgres://app:hunter2@db/billing?hunter2=1",
        "postgres://app:%zz@db?password=hunter2&x",
        "user=app password=hunter2",
    ] {
        let error = PostgresConnection::parse(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Configuration);
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(PLANTED), "{text} is told as {shown}");
    }
}

#[test]
fn a_refusal_names_the_option_that_is_wrong() {
    for (text, expected) in [
        ("host=db sslmode=verify", "option sslmode"),
        ("host=db port=x", "option port"),
        ("host=db sslrootcert=ca.pem", "with_ca_file"),
        ("postgres://db/x?passfile=p", "with_password"),
        ("user=app", "names no host"),
    ] {
        let text = PostgresConnection::parse(text).expect_err(text).to_string();
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_place_names_every_host_and_the_database() {
    for (text, expected) in [
        ("postgres://app@db/billing", "db:5432/billing"),
        ("postgres://app@a:1,b:2/billing", "a:1,b:2/billing"),
        ("host=a,b port=6432 user=app", "a:6432,b:6432/app"),
        ("hostaddr=10.0.0.1 dbname=x", "10.0.0.1:5432/x"),
    ] {
        assert_eq!(place(&config(text)), expected);
    }
}

#[tokio::test]
async fn a_file_without_certificates_is_refused_by_name() {
    for path in [
        "/nowhere/ca.pem",
        concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
    ] {
        let outcome = connector(Some(Path::new(path).to_owned())).await;
        let error = outcome.err().expect("no certificates");
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains(path), "{error}");
    }
}
