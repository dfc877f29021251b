//! How the transport uses a broker.

use std::num::NonZeroU32;
use std::time::Duration;

use nimbus_messaging::TransportError;

/// Options of [`RabbitMqTransport::new`](crate::RabbitMqTransport::new).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RabbitMqOptions {
    pub(crate) prefix: String,
    pub(crate) partitions: u16,
    pub(crate) delivery_limit: NonZeroU32,
    pub(crate) lock_duration: Duration,
    pub(crate) auto_declare: bool,
    pub(crate) message_size_limit: usize,
    pub(crate) property_limit: usize,
    pub(crate) connect_timeout: Duration,
    pub(crate) confirm_timeout: Duration,
}

/// As many as a key tells apart.
pub(crate) const MOST_PARTITIONS: u16 = 256;

/// Leaves room for the ends of names within the 255 bytes that AMQP allows.
const LONGEST_PREFIX: usize = 64;

impl Default for RabbitMqOptions {
    fn default() -> Self {
        Self {
            prefix: "nimbus.".to_owned(),
            partitions: 8,
            delivery_limit: NonZeroU32::new(10).unwrap_or(NonZeroU32::MIN),
            lock_duration: Duration::from_secs(30),
            auto_declare: true,
            message_size_limit: 1024 * 1024,
            property_limit: 128,
            connect_timeout: Duration::from_secs(10),
            confirm_timeout: Duration::from_secs(30),
        }
    }
}

impl RabbitMqOptions {
    /// What the names of all exchanges and queues begin with; `nimbus.` unless set. Senders and
    /// receivers must agree on it.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Over how many queues an endpoint's sessions are spread: a power of two, 256 at most; 8
    /// unless set. So many sessions of an endpoint are handled at a time, by all its receivers
    /// together. It can't be changed while the endpoint's queues exist.
    #[must_use]
    pub fn with_partitions(mut self, partitions: u16) -> Self {
        self.partitions = partitions;
        self
    }

    /// How often a message is delivered before the broker dead-letters it; 10 unless set. It can't
    /// be changed while the endpoint's queues exist.
    #[must_use]
    pub fn with_delivery_limit(mut self, limit: NonZeroU32) -> Self {
        self.delivery_limit = limit;
        self
    }

    /// How long a lane is kept whose holder does not renew its lock; 30 seconds unless set. A
    /// process that is gone loses its lanes at once, whatever is set here.
    #[must_use]
    pub fn with_lock_duration(mut self, duration: Duration) -> Self {
        self.lock_duration = duration;
        self
    }

    /// Whether missing exchanges and queues are declared; they are unless set. Otherwise
    /// `cargo xtask provision --rabbitmq URI` declares them.
    #[must_use]
    pub fn with_auto_declare(mut self, declare: bool) -> Self {
        self.auto_declare = declare;
        self
    }

    /// The largest body in bytes; 1 MiB unless set. Sending a larger one is an error of kind
    /// [`InvalidInput`](nimbus_messaging::TransportErrorKind::InvalidInput).
    #[must_use]
    pub fn with_message_size_limit(mut self, bytes: usize) -> Self {
        self.message_size_limit = bytes;
        self
    }

    /// How many application properties a message may have; 128 unless set.
    #[must_use]
    pub fn with_property_limit(mut self, count: usize) -> Self {
        self.property_limit = count;
        self
    }

    /// How long connecting, or another question to the broker, may take; 10 seconds unless set.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long a send waits for the broker's confirmation; 30 seconds unless set. A broker that
    /// is short of memory or disk lets senders wait.
    #[must_use]
    pub fn with_confirm_timeout(mut self, timeout: Duration) -> Self {
        self.confirm_timeout = timeout;
        self
    }

    pub(crate) fn validate(&self) -> Result<(), TransportError> {
        let problems: Vec<&str> = [
            (
                !self.partitions.is_power_of_two() || self.partitions > MOST_PARTITIONS,
                "the number of partitions is no power of two up to 256",
            ),
            (
                self.prefix.len() > LONGEST_PREFIX,
                "the prefix is longer than 64 bytes",
            ),
            (self.lock_duration.is_zero(), "the lock duration is zero"),
            (
                self.message_size_limit == 0,
                "the message size limit is zero",
            ),
            (
                self.connect_timeout.is_zero() || self.confirm_timeout.is_zero(),
                "a timeout is zero",
            ),
        ]
        .into_iter()
        .filter_map(|(wrong, problem)| wrong.then_some(problem))
        .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(TransportError::configuration(format!(
            "the options of the RabbitMQ transport can't work: {}",
            problems.join("; ")
        )))
    }
}
