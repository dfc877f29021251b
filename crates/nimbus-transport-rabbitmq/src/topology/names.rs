use lapin::types::ShortString;
use sha2::{Digest, Sha256};

/// Room for the ends of names within AMQP's 255 bytes.
const LONGEST_BASE: usize = 200;

/// The names of an endpoint's exchanges and queues. Addresses differ only by more than ASCII case
/// (SUB-04), so the names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EndpointNames {
    base: String,
}

impl EndpointNames {
    pub(crate) fn new(prefix: &str, endpoint: &str) -> Self {
        let mut base = format!("{prefix}{}", endpoint.to_ascii_lowercase());
        if base.len() > LONGEST_BASE {
            base = format!("{prefix}{}", hex(endpoint.to_ascii_lowercase().as_bytes()));
        }
        Self { base }
    }

    /// The exchange that takes everything which is sent to the endpoint.
    pub(crate) fn ingress(&self) -> &str {
        &self.base
    }

    /// The exchange that spreads messages over the partitions.
    pub(crate) fn partitions(&self) -> String {
        format!("{}.partitions", self.base)
    }

    /// The exchange for messages whose key names no partition. Since the broker compares this name
    /// where the other exchange is declared again, it also keeps the number of partitions.
    pub(crate) fn unkeyed(&self, partitions: u16) -> String {
        format!("{}.unkeyed-of-{partitions}", self.base)
    }

    /// The queue of one partition.
    pub(crate) fn partition(&self, number: u16) -> String {
        format!("{}.{number}", self.base)
    }

    /// The exchange and the queue of dead letters.
    pub(crate) fn dead_letters(&self) -> String {
        format!("{}.dead", self.base)
    }

    /// One word of a routing key that stands for the endpoint.
    pub(crate) fn word(&self) -> String {
        hex(self.base.as_bytes())
    }
}

/// The first 16 bytes of a hash, in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(bytes);
    digest
        .iter()
        .take(16)
        .fold(String::new(), |mut text, byte| {
            // Writing to a string can't fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// A name for the driver. All names here are short enough; one that is not is taken by its hash.
pub(crate) fn short(name: &str) -> ShortString {
    ShortString::try_new(name).unwrap_or_else(|_| hex(name.as_bytes()).into())
}
