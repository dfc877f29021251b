use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{Address, Transport};
use tokio::sync::Semaphore;

use super::SubscriberBuilder;
use crate::cloud_events::CloudEvents;

/// Addresses that no endpoint can have (SUB-04): its own outcomes would come back to it.
const WELL_KNOWN: [Address; 8] = [
    Address::RESOLVER,
    Address::MANAGER,
    Address::CONTINUATION,
    Address::SELF,
    Address::EVENT,
    Address::RETRY,
    Address::DEFERRED_PROCESSOR,
    Address::DEFERRED,
];

impl SubscriberBuilder {
    /// Adds what is wrong to the problems; the endpoint, if it is usable.
    pub(super) fn check(&mut self, transport: &dyn Transport) -> Option<EndpointId> {
        let endpoint = EndpointId::new(&self.endpoint)
            .map_err(|reason| self.problem(format!("the endpoint's name is {reason}")))
            .ok();
        if self.handlers.is_empty() {
            self.problem("it has no handler; add one with `handle`");
        }
        self.check_event_types();
        if WELL_KNOWN.contains(&Address::new(self.endpoint.as_str())) {
            self.problem(
                "the endpoint's name is one of the addresses that mean something else to every \
                 endpoint; choose another",
            );
        }
        if !(1..=Semaphore::MAX_PERMITS).contains(&self.concurrent_sessions) {
            self.problem(format!(
                "it may work on {} sessions at a time; allow 1 to {}",
                self.concurrent_sessions,
                Semaphore::MAX_PERMITS
            ));
        }
        if self.session_idle.is_zero() {
            self.problem("an idle session is kept for no time at all; keep it at least a moment");
        }
        let CloudEvents { mode, mapping } = &self.cloud_events;
        let of_mapping = mapping.problems(*mode, &self.handlers);
        self.problems.extend(of_mapping);
        let (name, capabilities) = (transport.name(), transport.capabilities());
        match (capabilities.session_store, self.session_store.is_some()) {
            (false, false) => self.problem(format!(
                "the transport {name} keeps no session state; pass a `session_store`"
            )),
            (true, true) => self.problem(format!(
                "the transport {name} keeps session state itself; pass no `session_store`"
            )),
            (true, false) | (false, true) => {}
        }
        if !self.retries.is_empty() && !capabilities.scheduled_send {
            self.problem(format!(
                "the transport {name} can't schedule messages, so there can be no retry policy"
            ));
        }
        endpoint
    }

    /// What is meant for one event type would have no effect under a name that no handler has: a
    /// variable in capitals is enough for that.
    fn check_event_types(&mut self) {
        let layers = self.event_layers.keys().map(|name| ("layer", name));
        let limits = self.limited_event_types.iter().map(|name| ("limit", name));
        let policies = self.retries.event_types();
        let policies = policies.map(|name| ("retry policy", name));
        let named = layers.chain(limits).chain(policies);
        let pointless: Vec<String> = named
            .filter(|(_, name)| self.handlers.get(name).is_none())
            .map(|(what, name)| {
                format!("there is a {what} for events of type {name:?}, and no handler")
            })
            .collect();
        self.problems.extend(pointless);
    }

    fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }
}
