//! The transactional form in an application that has sqlx (INB-41).

#[path = "../server/mod.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod server;
#[path = "../inbox/support.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod support;
mod transactions;

nimbus_inbox_testing::conformance!(suites: support::tests("sqlx", transactions::TESTS));
