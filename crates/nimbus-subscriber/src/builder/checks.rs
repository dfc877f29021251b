use nimbus_inbox_core::EndpointId;
use nimbus_messaging::Transport;

use super::SubscriberBuilder;

impl SubscriberBuilder {
    /// Adds what is wrong to the problems; the endpoint, if it is usable.
    pub(super) fn check(&mut self, transport: &dyn Transport) -> Option<EndpointId> {
        let endpoint = EndpointId::new(&self.endpoint)
            .map_err(|reason| self.problem(format!("the endpoint's name is {reason}")))
            .ok();
        if self.handlers.is_empty() {
            self.problem("it has no handler; add one with `handle`");
        }
        if self.concurrent_sessions == 0 {
            self.problem("it may work on 0 sessions at a time; allow at least 1");
        }
        if self.session_idle.is_zero() {
            self.problem("an idle session is kept for no time at all; keep it at least a moment");
        }
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

    fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }
}
