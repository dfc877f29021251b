use super::*;

const PLANTED: &str = "hunter2-planted";

/// SUB-32: a password is in no text that anybody could log.
#[test]
fn a_password_is_never_shown() {
    let uri = format!("amqps://app:{PLANTED}@rabbit.example:5671/billing");
    let connection = RabbitMqConnection::parse(uri).unwrap();
    let shown = format!("{connection:?}");
    assert!(shown.contains("rabbit.example:5671/billing"), "{shown}");
    assert!(!shown.contains(PLANTED), "{shown}");

    let apart = connection.with_password(PLANTED.to_owned());
    assert!(!format!("{apart:?}").contains(PLANTED));
    for wrong in [
        format!("http://app:{PLANTED}@rabbit"),
        format!("amqp://app:{PLANTED}@rabbit:port"),
        format!("amqp://app:{PLANTED}@rabbit/%zz?heartbeat=soon"),
        PLANTED.to_owned(),
    ] {
        let error = RabbitMqConnection::parse(wrong).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(PLANTED), "{error:?}");
    }
}

/// SUB-33: nothing reaches another machine in the clear unless somebody said so.
#[test]
fn plaintext_stays_on_this_machine() {
    for local in ["localhost", "127.0.0.1", "[::1]"] {
        let connection = RabbitMqConnection::parse(format!("amqp://{local}:5672/%2f")).unwrap();
        assert!(connection.address().is_ok(), "{local}");
    }
    let uri = format!("amqp://app:{PLANTED}@rabbit.example/%2f");
    let remote = RabbitMqConnection::parse(uri).unwrap();
    let error = remote.address().unwrap_err();
    assert!(error.to_string().contains("amqps://"), "{error}");
    assert!(!error.to_string().contains(PLANTED), "{error}");
    assert!(remote.with_plaintext(true).address().is_ok());
    let encrypted = RabbitMqConnection::parse("amqps://app@rabbit.example/%2f".to_owned());
    assert!(encrypted.unwrap().address().is_ok());
}

/// SUB-33: a password that is kept apart is the one that is used.
#[test]
fn a_password_can_be_kept_apart() {
    let connection = RabbitMqConnection::parse("amqps://app@rabbit.example/%2f".to_owned());
    let uri = connection
        .unwrap()
        .with_password(PLANTED.to_owned())
        .address();
    assert_eq!(uri.unwrap().authority.userinfo.password, PLANTED);
}
