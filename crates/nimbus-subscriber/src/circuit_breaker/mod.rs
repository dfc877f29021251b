//! Stops running handlers that fail time and again, and tries them one by one (SUB-23).

mod circuit;
mod options;

#[cfg(test)]
mod tests;

pub use options::CircuitBreaker;

pub(crate) use circuit::{Admission, Change, Circuit, Gate};
