//! When and whether a failed event is tried again (SUB-20).

mod backoff;
mod policies;
mod policy;
mod random;

pub use backoff::{Backoff, Jitter};
pub use policies::RetryRule;
pub use policy::RetryPolicy;
pub use random::{RandomSource, SystemRandom};

pub(crate) use policies::RetryPolicies;
