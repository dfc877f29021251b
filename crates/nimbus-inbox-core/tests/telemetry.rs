//! What is counted, measured and traced.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

#[path = "support/logs.rs"]
mod logs;
#[path = "support/metrics.rs"]
mod metrics;

use std::collections::BTreeSet;

use logs::Logs;
use metrics::Metrics;
use nimbus_inbox_core::{AddressScopedInbox, CleanupTask, Error, Inbox, InboxOptions, telemetry};
use nimbus_inbox_testing::{Fault, FaultyStore, InMemoryInbox, When};
use tokio_util::sync::CancellationToken;

/// Everything an inbox does, with ids that a test can look for.
async fn exercise(options: InboxOptions) {
    let store = FaultyStore::new(InMemoryInbox::new());
    let inbox = Inbox::with_options("Billing", store.clone(), options.clone()).unwrap();
    let deliver = async |id: &str| inbox.process(id, async || Ok::<_, Error>(())).await;
    for n in 0..20 {
        deliver(&format!("planted-id-{n}")).await.unwrap();
        deliver(&format!("planted-id-{n}")).await.unwrap();
    }
    deliver("").await.unwrap();
    deliver(&"planted-id".repeat(60)).await.unwrap();
    deliver("  ").await.unwrap();
    store.inject(When::check().first(1), Fault::transient());
    deliver("planted-id-a").await.unwrap_err();
    store.inject(When::record().first(2), Fault::answer_lost());
    deliver("planted-id-b").await.unwrap_err();
    let cleanup = CleanupTask::new(inbox.clone());
    cleanup.pass(&CancellationToken::new()).await.unwrap();
    store.inject(
        When::purge(),
        Fault::fail(|operation| Error::configuration(operation, "planted-id")),
    );
    cleanup.pass(&CancellationToken::new()).await.unwrap_err();

    let scoped = AddressScopedInbox::new(InMemoryInbox::new(), options);
    for _ in 0..2 {
        let done = scoped.process("planted-address", "m", async || Ok::<_, Error>(()));
        done.await.unwrap();
    }
}

/// INB-37: names, units and values, and only bounded attributes.
#[tokio::test]
async fn attributes_are_bounded_and_hold_no_identity() {
    let metrics = Metrics::new();
    exercise(metrics.options()).await;
    let all = metrics.collect();
    let named: Vec<_> = all
        .keys()
        .map(|(name, unit)| (name.as_str(), unit.as_str()))
        .collect();
    assert_eq!(
        named,
        [
            ("nimbus.inbox.bypassed", "{messages}"),
            ("nimbus.inbox.duplicate_detected", "{messages}"),
            ("nimbus.inbox.operation.duration", "s"),
            ("nimbus.inbox.operation.failed", "{operations}"),
            ("nimbus.inbox.purge.backlog", "{records}"),
            ("nimbus.inbox.purged", "{records}"),
        ]
    );
    let attributes: BTreeSet<_> = all
        .values()
        .flatten()
        .flat_map(|(attributes, _)| attributes.iter().map(String::as_str))
        .collect();
    assert_eq!(
        attributes,
        BTreeSet::from([
            "error.type=configuration",
            "error.type=outcome_unknown",
            "error.type=transient",
            "nimbus.endpoint=Billing",
            "nimbus.inbox.bypass_reason=blank",
            "nimbus.inbox.bypass_reason=missing",
            "nimbus.inbox.bypass_reason=too_long",
            "nimbus.store.operation=check",
            "nimbus.store.operation=purge",
            "nimbus.store.operation=record",
            "nimbus.store.provider=in_memory",
        ])
    );
}

/// INB-37: duplicates and failures are counted once each.
#[tokio::test]
async fn every_duplicate_and_failure_counts_once() {
    let metrics = Metrics::new();
    exercise(metrics.options()).await;
    let total = |name: &str| metrics.of(name).iter().map(|(_, value)| value).sum::<u64>();
    assert_eq!(total(telemetry::DUPLICATE_DETECTED), 21);
    assert_eq!(total(telemetry::BYPASSED), 3);
    // One check, two attempts at a record, one purge.
    assert_eq!(total(telemetry::OPERATION_FAILED), 4);
    // 42 checks and two of them failed, 21 records and two attempts, two purges; two checks and
    // one record by address.
    let measured = metrics.of(telemetry::OPERATION_DURATION);
    let of = |operation: &str| {
        let wanted = format!("nimbus.store.operation={operation}");
        let found = measured.iter().find(|(names, _)| names.contains(&wanted));
        found.map(|(_, count)| *count)
    };
    assert_eq!(
        (of("check"), of("record"), of("purge")),
        (Some(44), Some(23), Some(2))
    );
}

/// INB-38: a span around check, record and purge, with the messaging attributes.
#[tokio::test]
async fn store_calls_have_spans() {
    let logs = Logs::capture();
    exercise(InboxOptions::default()).await;
    for name in ["check", "record", "purge"] {
        let opened = format!(
            "nimbus.inbox.{name}{{otel.kind=\"client\" messaging.system=\"nimbus\" \
             messaging.operation.name=\"{name}\" messaging.consumer.group.name=\"Billing\""
        );
        assert!(!logs.events("INFO", &opened).is_empty(), "no {opened}");
    }
    let message = "messaging.message.id=\"planted-id-0\" messaging.batch.message_count=1";
    assert!(logs.text().contains(message));
}
