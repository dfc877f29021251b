use std::num::NonZeroU32;

use nimbus_inbox_testing::ServiceTests;
use nimbus_messaging::{Transport, TransportErrorKind};

use crate::server::{self, options};
use crate::support::{Ours, told};

pub(crate) fn add(tests: ServiceTests) -> ServiceTests {
    tests
        .test(
            "declaring_again_changes_nothing",
            declaring_again_changes_nothing,
        )
        .test(
            "another_delivery_limit_is_named",
            another_delivery_limit_is_named,
        )
        .test(
            "another_number_of_partitions_is_refused",
            another_number_of_partitions_is_refused,
        )
        .test(
            "what_may_not_be_declared_is_named",
            what_may_not_be_declared_is_named,
        )
}

/// SUB-33: several processes declare the same.
async fn declaring_again_changes_nothing() {
    let ours = Ours::declared(options()).await;
    let other = ours.with(options());
    other.verify(&ours.endpoint).await.expect("declaring again");
    other.check(&ours.endpoint).await.expect("it is all there");
}

/// SUB-33: what differs is told by its name.
async fn another_delivery_limit_is_named() {
    let ours = Ours::declared(options()).await;
    let limit = NonZeroU32::new(3).expect("not zero");
    let other = ours.with(options().with_delivery_limit(limit));
    let error = other.verify(&ours.endpoint).await.expect_err("it differs");
    assert_eq!(error.kind(), TransportErrorKind::Configuration);
    let text = error.to_string();
    assert!(text.contains("x-delivery-limit"), "{text}");
    assert!(text.contains(&ours.name(".0")), "{text}");
}

/// SUB-33: a session would have two queues.
async fn another_number_of_partitions_is_refused() {
    let ours = Ours::declared(options()).await;
    for partitions in [2, 8] {
        let other = ours.with(options().with_partitions(partitions));
        let error = other.verify(&ours.endpoint).await.expect_err("it differs");
        assert_eq!(error.kind(), TransportErrorKind::Configuration);
        let text = error.to_string();
        assert!(text.contains("another number of partitions"), "{text}");
        assert!(text.contains("'alternate-exchange'"), "{text}");
        assert!(text.contains(&format!("unkeyed-of-{partitions}")), "{text}");
    }
}

/// SUB-33
async fn what_may_not_be_declared_is_named() {
    let ours = Ours::named(server::open(
        server::address(),
        options().with_auto_declare(false),
    ));
    let error = ours.transport.verify(&ours.endpoint).await;
    let error = error.expect_err("nothing is declared");
    assert_eq!(error.kind(), TransportErrorKind::Configuration);
    assert!(
        told(&error).contains("cargo xtask provision --rabbitmq"),
        "{error}"
    );
    let other = ours.with(options());
    other.declare(&ours.endpoint).await.expect("declaring");
    ours.transport
        .verify(&ours.endpoint)
        .await
        .expect("it is all there");
}
