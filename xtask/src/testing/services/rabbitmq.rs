//! A RabbitMQ that runs already.

use std::env;

use super::Found;
use super::postgres::listens;

/// Names a broker on which tests may declare and delete exchanges and queues.
pub(super) const ADDRESS: &str = "NIMBUS_RABBITMQ_URL";

const PORT: u16 = 5672;

pub(super) fn find() -> Found {
    if env::var_os(ADDRESS).is_some() {
        return Found::There(format!("as {ADDRESS} says"));
    }
    if listens(PORT) {
        return Found::There(format!("on port {PORT}"));
    }
    Found::Nowhere
}
