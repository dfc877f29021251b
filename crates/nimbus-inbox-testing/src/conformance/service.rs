use std::fmt;
use std::future::Future;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::case::Case;

/// Tests of one's own that need a service, beside the suites.
///
/// Whether the service is there is known when the tests are listed, so that a test that can't run
/// is listed as ignored and never counted as passed. Each test has a runtime of its own.
///
/// ```no_run
/// use nimbus_inbox_testing::ServiceTests;
///
/// async fn a_connection_that_is_cut_is_replaced() { /* … */ }
///
/// nimbus_inbox_testing::conformance!(suites:
///     ServiceTests::new("faults")
///         .test("a_connection_that_is_cut_is_replaced", a_connection_that_is_cut_is_replaced)
/// );
/// ```
#[must_use = "tests run through `conformance!` or `Conformance`"]
pub struct ServiceTests {
    name: String,
    unavailable: Option<String>,
    time_limit: Duration,
    tests: Vec<Test>,
}

struct Test {
    name: String,
    body: Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>,
}

impl ServiceTests {
    /// No tests yet, under a common name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unavailable: None,
            time_limit: Duration::from_secs(60),
            tests: Vec::new(),
        }
    }

    /// Adds a test.
    pub fn test<F, Fut>(mut self, name: impl Into<String>, body: F) -> Self
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.tests.push(Test {
            name: name.into(),
            body: Box::new(|| body().boxed()),
        });
        self
    }

    /// Lists every test as ignored, because the service is not there.
    ///
    /// Begin the reason with the service's name, as in `postgres: no server on port 5432`.
    pub fn unavailable(mut self, reason: impl Into<String>) -> Self {
        self.unavailable = Some(reason.into());
        self
    }

    /// How long one test may take before it counts as hung; 60 seconds if not set.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    pub(in crate::conformance) fn into_cases(self) -> Vec<Case> {
        let (suite, unavailable, time_limit) = (self.name, self.unavailable, self.time_limit);
        self.tests
            .into_iter()
            .map(|test| Case {
                name: format!("{suite}::{}", test.name),
                unavailable: unavailable.clone(),
                time_limit,
                body: test.body,
            })
            .collect()
    }
}

impl fmt::Debug for ServiceTests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceTests")
            .field("name", &self.name)
            .field("unavailable", &self.unavailable)
            .field("tests", &self.tests.len())
            .finish_non_exhaustive()
    }
}
