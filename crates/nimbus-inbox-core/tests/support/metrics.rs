//! What a test's own meter counted.

use std::collections::BTreeMap;

use nimbus_inbox_core::InboxOptions;
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};

pub(crate) struct Metrics {
    provider: SdkMeterProvider,
    exporter: InMemoryMetricExporter,
}

/// One metric stream: its attributes as sorted `name=value`, and its value. A histogram's value is
/// how many measurements it holds.
pub(crate) type Stream = (Vec<String>, u64);

impl Metrics {
    pub(crate) fn new() -> Self {
        let exporter = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(exporter.clone()).build();
        Self {
            provider: SdkMeterProvider::builder().with_reader(reader).build(),
            exporter,
        }
    }

    pub(crate) fn options(&self) -> InboxOptions {
        InboxOptions::default().with_meter(self.provider.meter("test"))
    }

    /// Every stream by metric name and unit.
    pub(crate) fn collect(&self) -> BTreeMap<(String, String), Vec<Stream>> {
        self.exporter.reset();
        self.provider.force_flush().unwrap();
        let mut all = BTreeMap::new();
        for resource in self.exporter.get_finished_metrics().unwrap() {
            for scope in resource.scope_metrics() {
                for metric in scope.metrics() {
                    let name = (metric.name().to_owned(), metric.unit().to_owned());
                    let mut streams = streams(metric.data());
                    streams.sort();
                    all.insert(name, streams);
                }
            }
        }
        all
    }

    /// The streams of one metric.
    pub(crate) fn of(&self, name: &str) -> Vec<Stream> {
        self.collect()
            .into_iter()
            .find(|((found, _), _)| found == name)
            .map(|(_, streams)| streams)
            .unwrap_or_default()
    }
}

fn streams(data: &AggregatedMetrics) -> Vec<Stream> {
    match data {
        AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| (attributes(point.attributes()), point.value()))
            .collect(),
        AggregatedMetrics::U64(MetricData::Gauge(gauge)) => gauge
            .data_points()
            .map(|point| (attributes(point.attributes()), point.value()))
            .collect(),
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| (attributes(point.attributes()), point.count()))
            .collect(),
        other => panic!("the inbox has no such instrument: {other:?}"),
    }
}

fn attributes<'a>(pairs: impl Iterator<Item = &'a opentelemetry::KeyValue>) -> Vec<String> {
    let mut pairs: Vec<_> = pairs
        .map(|pair| format!("{}={}", pair.key, pair.value))
        .collect();
    pairs.sort();
    pairs
}
