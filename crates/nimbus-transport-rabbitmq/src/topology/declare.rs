use lapin::options::{
    ExchangeBindOptions, ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::{AMQPValue, FieldTable, LongString};
use lapin::{Channel, ExchangeKind};
use nimbus_messaging::TransportError;

use super::names::short;
use super::{Argument, Declaration, Topology};
use crate::error::{failed, is_not_found};

/// Declares what is missing. What exists and differs is a configuration error, whose source tells
/// the argument.
///
/// # Cancel safety
///
/// Dropped, some of it is declared; doing it again declares the rest.
pub(crate) async fn declare(channel: &Channel, topology: &Topology) -> Result<(), TransportError> {
    for declaration in topology.declarations() {
        let declared = declare_one(channel, declaration).await;
        declared.map_err(|error| describe(declaration, error))?;
    }
    Ok(())
}

fn describe(declaration: &Declaration, error: lapin::Error) -> TransportError {
    // "PRECONDITION_FAILED - inequivalent arg 'x-delivery-limit' for queue … current is '5'"
    let text = error.to_string();
    let differs = text.find("inequivalent").map(|at| &text[at..]);
    let what = match differs {
        // The names of the alternate exchanges hold the numbers.
        Some(told) if told.contains("'alternate-exchange'") => {
            format!("declaring {declaration} with another number of partitions ({told})")
        }
        Some(told) => format!("declaring {declaration} ({told})"),
        None => format!("declaring {declaration}"),
    };
    failed(what, error)
}

async fn declare_one(channel: &Channel, declaration: &Declaration) -> lapin::Result<()> {
    match declaration {
        Declaration::Exchange {
            name,
            kind,
            alternate,
        } => {
            let mut arguments = FieldTable::default();
            if let Some(alternate) = alternate {
                arguments.insert("alternate-exchange".into(), text(alternate));
            }
            let options = ExchangeDeclareOptions {
                durable: true,
                ..ExchangeDeclareOptions::default()
            };
            let kind = match *kind {
                "fanout" => ExchangeKind::Fanout,
                _ => ExchangeKind::Topic,
            };
            let declared = channel.exchange_declare(short(name), kind, options, arguments);
            declared.await
        }
        Declaration::Queue { name, arguments } => {
            let mut table = FieldTable::default();
            table.insert("x-queue-type".into(), text("quorum"));
            for (argument, value) in arguments {
                let value = match value {
                    Argument::Text(value) => text(value),
                    Argument::Number(number) => AMQPValue::LongLongInt(*number),
                    Argument::Truth(value) => AMQPValue::Boolean(*value),
                };
                table.insert((*argument).into(), value);
            }
            let options = QueueDeclareOptions {
                durable: true,
                ..QueueDeclareOptions::default()
            };
            let declared = channel.queue_declare(short(name), options, table).await;
            declared.map(drop)
        }
        Declaration::QueueBinding {
            exchange,
            queue,
            pattern,
        } => {
            let (queue, exchange, pattern) = (short(queue), short(exchange), short(pattern));
            let options = QueueBindOptions::default();
            let bound =
                channel.queue_bind(queue, exchange, pattern, options, FieldTable::default());
            bound.await
        }
        Declaration::ExchangeBinding {
            exchange,
            destination,
            pattern,
        } => {
            let (to, from, pattern) = (short(destination), short(exchange), short(pattern));
            let options = ExchangeBindOptions::default();
            let bound = channel.exchange_bind(to, from, pattern, options, FieldTable::default());
            bound.await
        }
    }
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(LongString::from(value.as_bytes()))
}

/// Whether the exchanges and queues are there. How they are bound can't be asked.
pub(crate) async fn check(channel: &Channel, topology: &Topology) -> Result<(), TransportError> {
    for declaration in topology.declarations() {
        let found = match declaration {
            Declaration::Exchange { name, .. } => find_exchange(channel, name).await,
            Declaration::Queue { name, .. } => {
                let options = QueueDeclareOptions {
                    passive: true,
                    ..QueueDeclareOptions::default()
                };
                let asked = channel.queue_declare(short(name), options, FieldTable::default());
                asked.await.map(drop)
            }
            _ => Ok(()),
        };
        found.map_err(|error| {
            if is_not_found(&error) {
                TransportError::configuration(format!(
                    "there is no {declaration}; declare it with `cargo xtask provision --rabbitmq \
                     URI`, or let the transport declare what it needs"
                ))
                .with_source(error)
            } else {
                failed(format_args!("looking for {declaration}"), error)
            }
        })?;
    }
    Ok(())
}

/// Whether there is an exchange of that name. Where there is none, the channel is closed.
pub(crate) async fn exists(channel: &Channel, name: &str) -> Result<bool, TransportError> {
    match find_exchange(channel, name).await {
        Ok(()) => Ok(true),
        Err(error) if is_not_found(&error) => Ok(false),
        Err(error) => Err(failed(
            format_args!("looking for the exchange {name}"),
            error,
        )),
    }
}

async fn find_exchange(channel: &Channel, name: &str) -> lapin::Result<()> {
    let options = ExchangeDeclareOptions {
        passive: true,
        ..ExchangeDeclareOptions::default()
    };
    let kind = ExchangeKind::Topic;
    let asked = channel.exchange_declare(short(name), kind, options, FieldTable::default());
    asked.await
}
