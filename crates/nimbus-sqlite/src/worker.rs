//! The threads of one database.

use std::thread;

use tokio::sync::watch;

use crate::error::{ErrorKind, SqliteError};
use crate::site::Site;

/// Starts threads and knows when all of them have ended.
pub(crate) struct Workers {
    alive: watch::Sender<()>,
}

impl Workers {
    pub(crate) fn new() -> Self {
        Self {
            alive: watch::Sender::new(()),
        }
    }

    /// Names are cut after 15 characters on Linux.
    pub(crate) fn spawn(
        &self,
        site: &Site,
        name: &str,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), SqliteError> {
        let alive = self.alive.subscribe();
        let thread = thread::Builder::new().name(name.into()).spawn(move || {
            let _alive = alive;
            body();
        });
        match thread {
            Ok(_detached) => Ok(()),
            // Too many threads for the moment.
            Err(source) => Err(site
                .fault(ErrorKind::Transient, "starting a thread")
                .with_detail(source.to_string())),
        }
    }

    /// Resolves once every thread has ended and closed its connection.
    pub(crate) async fn ended(&self) {
        self.alive.closed().await;
    }
}
