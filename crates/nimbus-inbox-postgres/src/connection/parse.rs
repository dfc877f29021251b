//! Connection strings, which hold secrets: nothing of them is repeated but names of options.

use std::error::Error as _;

use nimbus_inbox_core::{Error, Operation};
use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::Config;

use crate::error::misconfigured;

/// Options that other PostgreSQL clients know, with what to do instead.
const ELSEWHERE: [(&str, &str); 9] = [
    ("sslrootcert", "give the file to `with_ca_file`"),
    ("sslcert", "certificates of clients aren't supported yet"),
    ("sslkey", "certificates of clients aren't supported yet"),
    (
        "sslpassword",
        "certificates of clients aren't supported yet",
    ),
    ("sslcrl", "lists of revoked certificates aren't supported"),
    ("passfile", "give the password to `with_password`"),
    ("service", "give host, user and database"),
    ("gssencmode", "take it out: TLS is what encrypts here"),
    ("client_encoding", "take it out: it is always UTF-8"),
];

/// Options whose value the driver may find wrong.
const OPTIONS: [&str; 13] = [
    "sslmode",
    "sslnegotiation",
    "hostaddr",
    "port",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];

/// A URL may ask for a verified certificate in the words of other clients. The driver doesn't
/// know them, and verifying is what happens anyway.
pub(super) fn accepted_modes(text: SecretString) -> SecretString {
    let exposed = text.expose_secret();
    let Some((address, query)) = exposed.split_once('?') else {
        return text;
    };
    if !exposed.contains("://") {
        return text;
    }
    let query: Vec<_> = query
        .split('&')
        .map(|option| match option {
            "sslmode=verify-full" | "sslmode=verify-ca" => "sslmode=require",
            other => other,
        })
        .collect();
    SecretString::from(format!("{address}?{}", query.join("&")))
}

pub(super) fn read(text: &SecretString) -> Result<Config, Error> {
    let config: Config = text
        .expose_secret()
        .parse()
        .map_err(|problem| unreadable(&problem))?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(refused("it names no host"));
    }
    Ok(config)
}

/// Quotes the driver only where it can name nothing but an option: what it takes for the name of
/// one may be a part of a password that was not quoted.
fn unreadable(problem: &tokio_postgres::Error) -> Error {
    let told = problem.source().map(ToString::to_string);
    let named = told.as_deref().and_then(|text| text.split('`').nth(1));
    if let Some(name) = named {
        if OPTIONS.contains(&name) {
            return refused(&format!(
                "the value of its option {name} is none that it takes"
            ));
        }
        if let Some((name, remedy)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            return refused(&format!("its option {name} is not known here; {remedy}"));
        }
    }
    refused(
        "write postgres://user@host:5432/database, with other characters than letters and digits \
         percent-encoded, or host=… user=… dbname=…, with values that hold blanks in single quotes",
    )
}

fn refused(reason: &str) -> Error {
    misconfigured(
        Operation::Configure,
        format!("the connection string can't be used: {reason}"),
    )
}
