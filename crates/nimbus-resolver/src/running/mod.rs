//! Receiving outcomes: lanes, outages, stopping and retention.

mod accept;
mod lane;
mod options;
mod purge;
mod renewal;
mod report;
mod resolver;

pub use options::ResolverOptions;
pub use report::ResolverReport;
pub use resolver::Resolver;
