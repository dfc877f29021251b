//! The session store under test, as several processes open it.

use std::sync::Arc;

use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{SessionId, SessionStore};

use super::SessionUnderTest;
use super::suite::SessionStoreConformance;
use crate::conformance::Namespace;
use crate::conformance::answers::expect;

/// One case's namespace and the way to open its store.
#[derive(Clone)]
pub(super) struct Subject {
    suite: Arc<SessionStoreConformance>,
    namespace: Namespace,
}

impl Subject {
    pub(super) fn new(suite: Arc<SessionStoreConformance>) -> Self {
        Self {
            suite,
            namespace: Namespace::unique(),
        }
    }

    /// The store of an endpoint, in one more process.
    pub(super) async fn open(&self, endpoint: &str) -> Arc<dyn SessionStore> {
        let endpoint = EndpointId::new(endpoint).expect("the suite names usable endpoints");
        let opened = (self.suite.factory)(self.namespace.clone(), endpoint).await;
        expect("opening the session store", opened)
    }

    /// A session of the endpoint `Billing`, in one more process.
    pub(super) async fn session(&self, name: &str) -> SessionUnderTest {
        session(self.open("Billing").await, name)
    }
}

pub(super) fn session(store: Arc<dyn SessionStore>, name: &str) -> SessionUnderTest {
    SessionUnderTest {
        store,
        session: SessionId::new(name).expect("the suite names its sessions"),
    }
}
