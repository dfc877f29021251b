//! Time and allocations of a block of work.

use std::time::{Duration, Instant};

/// What one unit of work costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Median over the samples.
    pub(crate) time: Duration,
    /// Heap allocations, from one sample of its own.
    pub(crate) allocations: f64,
    /// Bytes allocated, from the same sample.
    pub(crate) bytes: f64,
}

const SAMPLES: usize = 9;

/// Measures `work`, which does `units` units on this thread each time it is called.
pub(crate) fn cost(units: u32, mut work: impl FnMut()) -> Cost {
    work();
    let mut samples: Vec<Duration> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    samples.sort_unstable();
    let allocated = allocation_counter::measure(&mut work);
    Cost {
        time: samples[SAMPLES / 2] / units,
        allocations: per_unit(allocated.count_total, units),
        bytes: per_unit(allocated.bytes_total, units),
    }
}

/// Counts are far below the 2^53 that a float holds exactly.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn per_unit(count: u64, units: u32) -> f64 {
    count as f64 / f64::from(units)
}
