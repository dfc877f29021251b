//! What a program links, for a configuration to select from (INB-30).

mod inboxes;
mod registered;
mod sections;
mod sessions;
mod transports;

use std::fmt;

pub(super) use registered::Selection;
pub(super) use sessions::OpenSessions;
pub(super) use transports::OpenTransport;

use inboxes::Inboxes;
use sections::Sections;
use sessions::SessionStores;
use transports::Transports;

/// The providers that a program links, by the names that configuration gives them, and the sections
/// that it reads besides those of the subscriber.
///
/// Each provider comes with a type for its settings, which says by its fields what the provider's
/// keys are; it derives `serde::Deserialize` and `Clone`, without `#[serde(flatten)]`. Durations,
/// paths and secrets are the types of [`nimbus_inbox_core::config`]. Registering opens nothing.
///
/// A name that is registered twice is a problem of every configuration that is loaded.
#[derive(Clone, Default)]
#[must_use = "providers do nothing until a configuration is loaded"]
pub struct Providers {
    pub(super) inboxes: Inboxes,
    pub(super) transports: Transports,
    pub(super) session_stores: SessionStores,
    pub(super) sections: Sections,
    pub(super) leave_the_rest: bool,
    problems: Vec<String>,
}

impl Providers {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves alone what stands beside the subscriber's own keys and sections, in the file and in
    /// the environment: for tools, which read the configuration of programs whose sections they
    /// don't know. A program refuses what it doesn't know.
    pub fn leave_the_rest(mut self) -> Self {
        self.leave_the_rest = true;
        self
    }

    pub(super) fn problems(&self) -> &[String] {
        &self.problems
    }

    fn registered_twice(&mut self, what: &str, name: &str) {
        let problem = format!("the {what} `{name}` is registered twice; register it once");
        self.problems.push(problem);
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers")
            .field("inboxes", &self.inboxes.names())
            .field("transports", &self.transports.names())
            .field("session_stores", &self.session_stores.names())
            .field("sections", &self.sections.names())
            .finish_non_exhaustive()
    }
}
