//! Dashboards and alerts ask for metrics that the inbox really reports.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use super::Violation;
use super::violation::METRIC_NAMES;

const FILES: [&str; 2] = [
    "deploy/observability/alerts.yaml",
    "deploy/observability/grafana-inbox.json",
];

/// What the Prometheus exporter appends for a counter, for seconds and for the
/// parts of a histogram.
const SUFFIXES: [&str; 5] = [
    "",
    "_total",
    "_seconds_bucket",
    "_seconds_count",
    "_seconds_sum",
];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Violation>> {
    let read = |file: &str| {
        fs::read_to_string(root.join(file)).with_context(|| format!("could not read {file}"))
    };
    let known = declared(&read(METRIC_NAMES)?);
    ensure!(
        !known.is_empty(),
        "{METRIC_NAMES} declares no metric: have the names moved?"
    );
    let mut violations = Vec::new();
    for file in FILES {
        let text = read(file)?;
        if file.ends_with(".json") {
            serde_json::from_str::<serde::de::IgnoredAny>(&text)
                .with_context(|| format!("{file} is not JSON"))?;
        }
        violations.extend(
            unknown(&text, &known).map(|metric| Violation::UnknownMetric {
                file: file.into(),
                metric: metric.to_owned(),
            }),
        );
    }
    Ok(violations)
}

/// The names in the source of the telemetry module, as Prometheus writes them.
fn declared(source: &str) -> BTreeSet<String> {
    let literals = source.split('"').skip(1).step_by(2);
    let names = literals.filter(|literal| literal.starts_with("nimbus."));
    names.map(|name| name.replace('.', "_")).collect()
}

/// The names in a dashboard or alert file that are neither a metric nor an attribute.
fn unknown<'a>(text: &'a str, known: &BTreeSet<String>) -> impl Iterator<Item = &'a str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names = words.filter(|word| word.starts_with("nimbus_") && !word.ends_with('_'));
    names.filter(|word| {
        let stems = SUFFIXES
            .iter()
            .filter_map(|suffix| word.strip_suffix(suffix));
        !stems.into_iter().any(|stem| known.contains(stem))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_names_are_traced_back_to_the_declared_ones() {
        let known = declared(
            "pub const PURGED: &str = \"nimbus.inbox.purged\";\n\
             pub const OPERATION_DURATION: &str = \"nimbus.inbox.operation.duration\";\n\
             pub const ENDPOINT: &str = \"nimbus.endpoint\";\n",
        );
        let text = "rate(nimbus_inbox_purged_total{nimbus_endpoint=~\".*\"}[5m]) \
                    nimbus_inbox_operation_duration_seconds_bucket nimbus_inbox_purge_total";
        let found: Vec<_> = unknown(text, &known).collect();
        assert_eq!(found, ["nimbus_inbox_purge_total"]);
    }
}
