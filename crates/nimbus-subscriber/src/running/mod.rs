//! Receiving: lanes, locks, stopping and what was done (SUB-29 to SUB-31).

mod health;
mod intake;
mod lane;
mod receive;
mod renewal;
mod report;
mod start;
mod stop;
mod subscriber;
mod tally;

pub use health::{Health, HealthStatus};
pub use report::RunReport;
pub use subscriber::Subscriber;

pub(crate) use intake::{Intake, Run};
pub(crate) use subscriber::Settings;
pub(crate) use tally::Tally;
