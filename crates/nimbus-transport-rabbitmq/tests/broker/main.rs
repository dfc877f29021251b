//! What the suite does not ask for: declarations, connections that break at the worst moment, and
//! messages from elsewhere.

mod astray;
mod declaring;
mod faults;
mod order;
#[path = "../server/mod.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod server;
mod support;

use std::time::Duration;

use nimbus_inbox_testing::ServiceTests;

fn tests() -> ServiceTests {
    let tests = ServiceTests::new("broker").time_limit(Duration::from_secs(120));
    let tests = order::add(faults::add(astray::add(declaring::add(tests))));
    match server::find() {
        Ok(_) => tests,
        Err(reason) => tests.unavailable(reason),
    }
}

nimbus_inbox_testing::conformance!(suites: tests());
