/// Makes a test target out of a conformance suite.
///
/// Call it as the only thing in `tests/conformance.rs` of a provider, whose manifest says
///
/// ```toml
/// [[test]]
/// name = "conformance"
/// harness = false
/// ```
///
/// with a factory that opens a store in the [`Namespace`](crate::Namespace) it is given:
///
/// ```no_run
/// # struct MyInbox;
/// # impl MyInbox {
/// #     async fn open(ns: nimbus_inbox_testing::Namespace)
/// #         -> Result<nimbus_inbox_testing::InMemoryInbox, nimbus_inbox_core::Error> {
/// #         Ok(ns.shared(nimbus_inbox_testing::InMemoryInbox::new))
/// #     }
/// # }
/// nimbus_inbox_testing::conformance!(|ns| async move { MyInbox::open(ns).await });
/// ```
///
/// or, to run several suites or to tell more about one, with the suites themselves:
///
/// ```no_run
/// # use std::time::Duration;
/// use nimbus_inbox_testing::{FaultyStore, InMemoryInbox, StoreConformance};
///
/// nimbus_inbox_testing::conformance!(suites:
///     StoreConformance::new("plain", |ns| async move { Ok(ns.shared(InMemoryInbox::new)) }),
///     StoreConformance::new("delayed", |ns| async move {
///         let store = ns.shared(InMemoryInbox::new);
///         Ok(FaultyStore::delaying(store, Duration::from_millis(1)))
///     }),
/// );
/// ```
///
/// The cases are listed, filtered and run like any other tests, by `cargo test` and by nextest.
/// In a target without `harness = false` none of them would run; there a test fails and says so.
#[macro_export]
macro_rules! conformance {
    (suites: $first:expr $(, $more:expr)* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::Conformance::from($first)$(.and($more))*.run()
        }

        // Compiled only where the test harness took the place of `main`.
        #[test]
        fn conformance_target_needs_harness_false() {
            panic!(
                "not one conformance case ran: this target needs `harness = false` in its \
                 [[test]] section of {}/Cargo.toml",
                env!("CARGO_MANIFEST_DIR"),
            );
        }
    };
    ($factory:expr $(,)?) => {
        $crate::conformance!(suites: $crate::StoreConformance::new("store", $factory));
    };
}
