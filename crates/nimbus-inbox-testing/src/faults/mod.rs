//! Stores around another store that count its calls, fail them by script, or hold them.

mod call;
mod counting;
mod fault;
mod faulty;
mod gate;
mod transaction;
mod when;

pub use call::{Point, StoreCall};
pub use counting::{CallCount, CountingStore, StoreCounts};
pub use fault::Fault;
pub use faulty::FaultyStore;
pub use gate::{Gate, GateStore, HeldCall};
pub use when::When;
