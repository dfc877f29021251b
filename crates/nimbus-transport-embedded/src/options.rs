//! How a queue file is opened.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Clock, SystemClock};
use nimbus_messaging::TransportError;
use nimbus_sqlite::{Durability, OpenOptions};

/// Options of [`EmbeddedTransport::open_with`](crate::EmbeddedTransport::open_with).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EmbeddedOptions {
    pub(crate) lock_duration: Duration,
    pub(crate) delivery_limit: NonZeroU32,
    pub(crate) poll_interval: Duration,
    pub(crate) auto_create: bool,
    pub(crate) auto_declare: bool,
    pub(crate) message_size_limit: usize,
    pub(crate) property_limit: usize,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) database: OpenOptions,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            lock_duration: Duration::from_secs(30),
            delivery_limit: NonZeroU32::new(10).unwrap_or(NonZeroU32::MIN),
            poll_interval: Duration::from_millis(25),
            auto_create: true,
            auto_declare: true,
            message_size_limit: 1024 * 1024,
            property_limit: 128,
            clock: Arc::new(SystemClock),
            database: OpenOptions::default(),
        }
    }
}

impl EmbeddedOptions {
    /// How long a lane stays locked without being renewed; 30 seconds unless set.
    ///
    /// After a crash its messages wait that long. All processes on a file should use the same.
    #[must_use]
    pub fn with_lock_duration(mut self, duration: Duration) -> Self {
        self.lock_duration = duration;
        self
    }

    /// How often a message is delivered before it goes to the dead-letter queue with the reason
    /// [`MAX_DELIVERY_COUNT_EXCEEDED`](crate::MAX_DELIVERY_COUNT_EXCEEDED); 10 unless set.
    #[must_use]
    pub fn with_delivery_limit(mut self, limit: NonZeroU32) -> Self {
        self.delivery_limit = limit;
        self
    }

    /// How often a receiver that waits looks for what other processes did; 25 milliseconds unless
    /// set. What this process does wakes it at once.
    #[must_use]
    pub fn with_poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// Whether missing tables are created; they are unless set. Otherwise
    /// `cargo xtask provision --embedded PATH` creates them, from [`ddl`](crate::ddl).
    #[must_use]
    pub fn with_auto_create(mut self, create: bool) -> Self {
        self.auto_create = create;
        self
    }

    /// Whether the queue of an endpoint that starts to receive is declared; it is unless set.
    /// Otherwise [`declare`](crate::EmbeddedTransport::declare) does that.
    #[must_use]
    pub fn with_auto_declare(mut self, declare: bool) -> Self {
        self.auto_declare = declare;
        self
    }

    /// The largest message in bytes, body and properties together; 1 MiB unless set. Sending a
    /// larger one is an error of kind
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

    /// The clock that locks, delays and schedules follow; the system's unless set. All processes
    /// on a file must agree on the time.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// When a send or a settlement counts as done; when the disk has it unless set.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.database = self.database.with_durability(durability);
        self
    }

    /// How long a call waits for other processes that write; 5 seconds unless set.
    #[must_use]
    pub fn with_busy_timeout(mut self, timeout: Duration) -> Self {
        self.database = self.database.with_busy_timeout(timeout);
        self
    }

    /// Bounds the file to this many pages, normally of 4,096 bytes; not bounded unless set.
    #[must_use]
    pub fn with_max_pages(mut self, pages: NonZeroU32) -> Self {
        self.database = self.database.with_max_pages(pages);
        self
    }

    pub(crate) fn validate(&self) -> Result<(), TransportError> {
        let problems: Vec<&str> = [
            (self.lock_duration.is_zero(), "the lock duration is zero"),
            (self.poll_interval.is_zero(), "the poll interval is zero"),
            (
                self.message_size_limit == 0,
                "the message size limit is zero",
            ),
        ]
        .into_iter()
        .filter_map(|(wrong, problem)| wrong.then_some(problem))
        .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(TransportError::configuration(format!(
            "the options of the embedded transport can't work: {}",
            problems.join("; ")
        )))
    }
}
