//! Choosing the store of an inbox, by value or by name (INB-30).

mod kind;
mod setup;
mod stores;

pub use kind::InboxStoreKind;
pub use setup::InboxSetup;
pub use stores::StoreRegistry;
