use nimbus_inbox_core::config::HumanDuration;
use nimbus_inbox_core::{Error, InboxOptions, PurgeLimit};
use serde::Deserialize;

use crate::config::keys::KeyPath;
use crate::config::problem::Problems;

/// Being there opts in to the inbox (INB-29).
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct InboxSection {
    pub(in crate::config) store: Option<String>,
    retention: Option<HumanDuration>,
    cleanup_interval: Option<HumanDuration>,
    purge_limit: Option<u32>,
    purge_pause: Option<HumanDuration>,
    purge_batches_per_pass: Option<u32>,
    store_timeout: Option<HumanDuration>,
}

impl InboxSection {
    pub(super) fn options(&self, problems: &mut Problems) -> InboxOptions {
        let mut options = Options {
            options: InboxOptions::default(),
            problems,
        };
        options.set("retention", self.retention, |options, period| {
            options.with_retention_period(period.0)
        });
        options.set(
            "cleanup_interval",
            self.cleanup_interval,
            |options, interval| options.with_cleanup_interval(interval.0),
        );
        options.set("purge_limit", self.purge_limit, |options, limit| {
            Ok(options.with_purge_limit(PurgeLimit::new(limit)?))
        });
        options.set("purge_pause", self.purge_pause, |options, pause| {
            Ok(options.with_purge_pause(pause.0))
        });
        options.set(
            "purge_batches_per_pass",
            self.purge_batches_per_pass,
            InboxOptions::with_purge_batches_per_pass,
        );
        options.set("store_timeout", self.store_timeout, |options, timeout| {
            options.with_store_timeout(timeout.0)
        });
        options.options
    }
}

struct Options<'a> {
    options: InboxOptions,
    problems: &'a mut Problems,
}

impl Options<'_> {
    fn set<T>(
        &mut self,
        key: &str,
        value: Option<T>,
        change: impl FnOnce(InboxOptions, T) -> Result<InboxOptions, Error>,
    ) {
        let Some(value) = value else { return };
        match change(self.options.clone(), value) {
            Ok(options) => self.options = options,
            Err(error) => {
                let key = KeyPath::root().key("inbox").key(key);
                self.problems.at_key(&key, error.context());
            }
        }
    }
}
