use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter};

use super::{
    BYPASS_REASON, BYPASSED, DUPLICATE_DETECTED, ENDPOINT, ERROR_TYPE, METER, OPERATION_DURATION,
    OPERATION_FAILED, PURGE_BACKLOG, PURGED, STORE_OPERATION, STORE_PROVIDER, UNIT_MESSAGES,
    UNIT_OPERATIONS, UNIT_RECORDS, UNIT_SECONDS,
};
use crate::{EndpointId, ErrorKind, Operation, UnusableId};

/// Half a millisecond, for an embedded store, up to the default bound of a call.
const DURATION_BOUNDARIES: [f64; 15] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// What one inbox counts and measures.
#[derive(Debug)]
pub(crate) struct Instruments {
    provider: &'static str,
    endpoint: Option<KeyValue>,
    duplicates: Counter<u64>,
    bypassed: Counter<u64>,
    failed: Counter<u64>,
    duration: Histogram<f64>,
    purged: Counter<u64>,
    backlog: Gauge<u64>,
}

impl Instruments {
    pub(crate) fn new(
        meter: Option<&Meter>,
        provider: &'static str,
        endpoint: Option<&EndpointId>,
    ) -> Self {
        let global;
        let meter = match meter {
            Some(meter) => meter,
            None => {
                global = opentelemetry::global::meter(METER);
                &global
            }
        };
        let counter = |name, unit| meter.u64_counter(name).with_unit(unit).build();
        Self {
            provider,
            endpoint: endpoint.map(|endpoint| KeyValue::new(ENDPOINT, endpoint.to_string())),
            duplicates: counter(DUPLICATE_DETECTED, UNIT_MESSAGES),
            bypassed: counter(BYPASSED, UNIT_MESSAGES),
            failed: counter(OPERATION_FAILED, UNIT_OPERATIONS),
            duration: meter
                .f64_histogram(OPERATION_DURATION)
                .with_unit(UNIT_SECONDS)
                .with_boundaries(DURATION_BOUNDARIES.to_vec())
                .build(),
            purged: counter(PURGED, UNIT_RECORDS),
            backlog: meter
                .u64_gauge(PURGE_BACKLOG)
                .with_unit(UNIT_RECORDS)
                .build(),
        }
    }

    pub(crate) fn duplicate(&self) {
        self.duplicates.add(1, &self.with_endpoint([]));
    }

    pub(crate) fn bypass(&self, reason: UnusableId) {
        let reason = match reason {
            UnusableId::Missing => "missing",
            UnusableId::Blank { .. } => "blank",
            UnusableId::TooLong { .. } => "too_long",
        };
        let reason = KeyValue::new(BYPASS_REASON, reason);
        self.bypassed.add(1, &self.with_endpoint([reason]));
    }

    /// Measures a finished store call. Startup is not a store operation of the messages, and the
    /// steps around a claim would blur how long a record takes.
    pub(crate) fn measure(&self, operation: Operation, took: Duration) {
        if let Operation::Check | Operation::Record | Operation::Purge = operation {
            self.duration.record(
                took.as_secs_f64(),
                &[
                    KeyValue::new(STORE_OPERATION, operation.as_str()),
                    KeyValue::new(STORE_PROVIDER, self.provider),
                ],
            );
        }
    }

    pub(crate) fn failure(&self, operation: Operation, kind: ErrorKind) {
        let operation = match operation {
            Operation::Check | Operation::Record | Operation::Purge => operation,
            Operation::Transaction => Operation::Record,
            _ => return,
        };
        self.failed.add(
            1,
            &[
                KeyValue::new(STORE_OPERATION, operation.as_str()),
                KeyValue::new(STORE_PROVIDER, self.provider),
                KeyValue::new(ERROR_TYPE, kind.as_str()),
            ],
        );
    }

    pub(crate) fn removed(&self, records: u64) {
        let provider = KeyValue::new(STORE_PROVIDER, self.provider);
        self.purged.add(records, &self.with_endpoint([provider]));
    }

    pub(crate) fn left(&self, records: u64) {
        let provider = KeyValue::new(STORE_PROVIDER, self.provider);
        self.backlog
            .record(records, &self.with_endpoint([provider]));
    }

    fn with_endpoint<const N: usize>(&self, attributes: [KeyValue; N]) -> Vec<KeyValue> {
        attributes
            .into_iter()
            .chain(self.endpoint.clone())
            .collect()
    }
}
