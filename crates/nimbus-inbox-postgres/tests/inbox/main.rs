//! What the conformance suite can't show: connections that are lost, servers that refuse, tables
//! that differ, and transactions of handlers.

mod connections;
mod errors;
mod ids;
mod locks;
mod pool;
#[path = "../server/mod.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod server;
mod stats;
mod support;
mod tables;
mod transactional;
mod transactional_drops;
mod transactional_faults;

use support::tests;

nimbus_inbox_testing::conformance!(suites:
    tests("connections", connections::TESTS),
    tests("errors", errors::TESTS),
    tests("ids", ids::TESTS),
    tests("locks", locks::TESTS),
    tests("pool", pool::TESTS),
    tests("stats", stats::TESTS),
    tests("tables", tables::TESTS),
    tests("transactional", transactional::TESTS),
    tests("transactional_drops", transactional_drops::TESTS),
    tests("transactional_faults", transactional_faults::TESTS),
);
