/// Makes a test target out of the transport conformance suite.
///
/// Call it as the only thing in a test target whose manifest section says `harness = false`, with
/// a factory that connects to a broker in the [`Namespace`](crate::Namespace) it is given:
///
/// ```no_run
/// use nimbus_inbox_testing::{InMemoryBroker, TransportUnderTest};
///
/// nimbus_inbox_testing::transport_conformance!(|ns| async move {
///     let broker = ns.shared(InMemoryBroker::new);
///     Ok(TransportUnderTest::new(broker.connect()))
/// });
/// ```
///
/// To run several suites, or to tell more about one, name them in
/// [`conformance!`](crate::conformance!), which also says how a target has to be set up.
#[macro_export]
macro_rules! transport_conformance {
    ($factory:expr $(,)?) => {
        $crate::conformance!(suites: $crate::TransportConformance::new("transport", $factory));
    };
}
