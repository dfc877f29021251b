//! A closed load: so many callers, each with one call in flight.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::report::Row;

/// Keeps `in_flight` calls going for `duration`; `call` gets the number of the message.
pub(crate) async fn closed_load<F, Fut>(
    case: &str,
    in_flight: usize,
    duration: Duration,
    call: F,
) -> anyhow::Result<Row>
where
    F: Fn(u64) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let (call, next) = (Arc::new(call), Arc::new(AtomicU64::new(0)));
    let start = Instant::now();
    let callers: Vec<_> = (0..in_flight)
        .map(|_| {
            let (call, next) = (Arc::clone(&call), Arc::clone(&next));
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                while start.elapsed() < duration {
                    let began = Instant::now();
                    call(next.fetch_add(1, Ordering::Relaxed)).await?;
                    latencies.push(began.elapsed());
                }
                anyhow::Ok(latencies)
            })
        })
        .collect();
    let mut latencies = Vec::new();
    for caller in callers {
        latencies.extend(caller.await??);
    }
    let elapsed = start.elapsed();
    latencies.sort_unstable();
    let count = u32::try_from(latencies.len())?;
    Ok(Row {
        case: case.to_owned(),
        per_second: Some(f64::from(count) / elapsed.as_secs_f64()),
        p50_microseconds: percentile(&latencies, 50),
        p99_microseconds: percentile(&latencies, 99),
        ..Row::default()
    })
}

fn percentile(sorted: &[Duration], percent: usize) -> Option<u128> {
    let index = sorted.len().saturating_sub(1) * percent / 100;
    sorted.get(index).map(Duration::as_micros)
}
