use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::RunReport;

macro_rules! tally {
    ($($(#[$doc:meta])* $count:ident by $add:ident;)*) => {
        /// Counts what happens to messages; cheap to share.
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Tally(Arc<Counts>);

        #[derive(Debug, Default)]
        struct Counts {
            $($count: AtomicU64,)*
        }

        impl Tally {
            $(pub(crate) fn $add(&self) {
                self.0.$count.fetch_add(1, Ordering::Relaxed);
            })*

            /// The counts so far.
            pub(crate) fn report(&self, unfinished: u64) -> RunReport {
                RunReport {
                    $($count: self.0.$count.load(Ordering::Relaxed),)*
                    unfinished,
                }
            }
        }
    };
}

tally! {
    received by received;
    handled by handled;
    duplicates by duplicate;
    parked by parked;
    replayed by replayed;
    failed by failed;
    retries_scheduled by retry_scheduled;
    handed_off by handed_off;
    handoffs_settled by handoff_settled;
    skipped by skipped;
    discarded by discarded;
    unsupported by unsupported;
    dead_lettered by dead_lettered;
    abandoned by abandoned;
    left by left;
}
