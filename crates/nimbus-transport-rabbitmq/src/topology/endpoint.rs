use super::names::EndpointNames;
use super::{Argument, Declaration, Topology, partition};
use crate::options::RabbitMqOptions;

/// What an endpoint needs.
///
/// `ingress -> partitions -> one queue for each partition`; what has no key of ours goes from
/// `partitions` by its alternate exchange to the first queue, whose receiver sends it on.
pub(crate) fn endpoint(names: &EndpointNames, options: &RabbitMqOptions) -> Topology {
    let count = options.partitions;
    let dead = names.dead_letters();
    let mut declared = vec![
        // First, since it is where another number of partitions shows, before queues are declared.
        exchange(&names.partitions(), "topic", Some(names.unkeyed(count))),
        exchange(&names.unkeyed(count), "fanout", None),
        exchange(&dead, "fanout", None),
        Declaration::Queue {
            name: dead.clone(),
            arguments: Vec::new(),
        },
        Declaration::QueueBinding {
            exchange: dead.clone(),
            queue: dead.clone(),
            pattern: String::new(),
        },
    ];
    for number in 0..count {
        let queue = names.partition(number);
        declared.push(Declaration::Queue {
            name: queue.clone(),
            arguments: partition_arguments(&dead, options),
        });
        declared.push(Declaration::QueueBinding {
            exchange: names.partitions(),
            queue,
            pattern: partition::pattern(number, count),
        });
    }
    declared.push(Declaration::QueueBinding {
        exchange: names.unkeyed(count),
        queue: names.partition(0),
        pattern: String::new(),
    });
    // Last, so that senders find the endpoint only when it is whole.
    declared.push(exchange(names.ingress(), "topic", None));
    declared.push(Declaration::ExchangeBinding {
        exchange: names.ingress().to_owned(),
        destination: names.partitions(),
        pattern: "#".to_owned(),
    });
    Topology(declared)
}

fn partition_arguments(dead: &str, options: &RabbitMqOptions) -> Vec<(&'static str, Argument)> {
    // The broker counts what comes back, and gives up above this.
    let returns = i64::from(options.delivery_limit.get()) - 1;
    let mut arguments = vec![
        ("x-single-active-consumer", Argument::Truth(true)),
        ("x-delivery-limit", Argument::Number(returns)),
    ];
    arguments.extend(dead_lettering(dead));
    arguments
}

/// Dead-lettering that loses nothing: at least once, which the broker only does for queues that
/// refuse when they are full.
pub(super) fn dead_lettering(exchange: &str) -> [(&'static str, Argument); 3] {
    [
        (
            "x-dead-letter-exchange",
            Argument::Text(exchange.to_owned()),
        ),
        (
            "x-dead-letter-strategy",
            Argument::Text("at-least-once".to_owned()),
        ),
        ("x-overflow", Argument::Text("reject-publish".to_owned())),
    ]
}

pub(super) fn exchange(name: &str, kind: &'static str, alternate: Option<String>) -> Declaration {
    Declaration::Exchange {
        name: name.to_owned(),
        kind,
        alternate,
    }
}
