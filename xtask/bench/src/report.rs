//! The figures, as a table and as JSON.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// All figures of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    groups: Vec<Group>,
}

/// Figures that are compared with one another.
#[derive(Debug, Serialize)]
struct Group {
    name: String,
    rows: Vec<Row>,
}

/// One measured case.
#[derive(Debug, Default, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) case: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nanoseconds: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) p50_microseconds: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) p99_microseconds: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allocations: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<f64>,
    /// How many times the group's first row this one is: in throughput where that was measured,
    /// else in time.
    pub(crate) ratio: f64,
}

impl Report {
    /// Adds a group; its first row is the baseline of the others.
    pub(crate) fn add(&mut self, name: impl Into<String>, mut rows: Vec<Row>) {
        let baseline = rows.first().and_then(magnitude);
        for row in &mut rows {
            row.ratio = match (magnitude(row), baseline) {
                (Some(value), Some(baseline)) if baseline > 0.0 => value / baseline,
                _ => 1.0,
            };
        }
        let group = Group {
            name: name.into(),
            rows,
        };
        // Shown as it comes: a whole run takes minutes.
        eprintln!("measured: {}", group.name);
        self.groups.push(group);
    }
}

fn magnitude(row: &Row) -> Option<f64> {
    let time = row
        .nanoseconds
        .map(|nanos| Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).as_secs_f64());
    row.per_second.or(time)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for group in &self.groups {
            writeln!(f, "\n{}", group.name)?;
            for row in &group.rows {
                write!(f, "  {:<44} {:>6.2} x", row.case, row.ratio)?;
                if let Some(rate) = row.per_second {
                    write!(f, "  {rate:>10.0}/s")?;
                }
                if let Some(nanos) = row.nanoseconds {
                    write!(f, "  {nanos:>8} ns")?;
                }
                if let (Some(p50), Some(p99)) = (row.p50_microseconds, row.p99_microseconds) {
                    write!(f, "  p50 {p50:>6} µs  p99 {p99:>7} µs")?;
                }
                if let (Some(allocations), Some(bytes)) = (row.allocations, row.bytes) {
                    write!(f, "  {allocations:>6.1} allocations  {bytes:>7.0} bytes")?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}
