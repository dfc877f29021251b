use std::fmt::Debug;

/// A source of chance for jitter, injected so that tests can choose.
pub trait RandomSource: Debug + Send + Sync + 'static {
    /// A number that is at least 0 and less than 1.
    fn unit(&self) -> f64;
}

/// A pseudo-random source seeded by the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandom;

impl RandomSource for SystemRandom {
    fn unit(&self) -> f64 {
        fastrand::f64()
    }
}
