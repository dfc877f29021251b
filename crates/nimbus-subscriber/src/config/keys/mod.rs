//! Which keys a settings type knows and what each takes, asked of its own deserializer: so the
//! check, the names of the variables and the documentation can't differ from the type.

mod kind;
mod path;
mod probe;

pub(super) use kind::{Keys, Kind};
pub(super) use path::{KeyPath, each_value};
pub(super) use probe::keys_of;
