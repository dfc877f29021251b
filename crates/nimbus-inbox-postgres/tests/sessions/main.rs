//! The session store: versions, parked copies, and what happens when two receivers meet.

mod parked;
#[path = "../server/mod.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod server;
#[path = "../inbox/support.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod support;
mod tables;
mod versions;
mod world;

use support::tests;

nimbus_inbox_testing::conformance!(suites:
    tests("parked", parked::TESTS),
    tests("tables", tables::TESTS),
    tests("versions", versions::TESTS),
);
