use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use nimbus_subscriber::{HandlerContext, HandlerError, Handoff};

use super::{Instructions, Troubles, register};
use crate::billing::Bookable;
use crate::ledger::{Execution, Ledger};
use crate::plan::Publication;

/// What the handlers of billing share.
#[derive(Debug, Clone)]
pub(super) struct Billing {
    ledger: Ledger,
    run: u32,
    failures: Arc<BTreeMap<String, u32>>,
    troubles: Arc<Troubles>,
    directory: Arc<Path>,
}

impl Billing {
    pub(super) fn new(ledger: Ledger, instructions: Instructions, directory: &Path) -> Self {
        Self {
            ledger,
            run: instructions.run,
            failures: Arc::new(instructions.failures),
            troubles: Arc::new(instructions.troubles),
            directory: directory.into(),
        }
    }

    /// Fails for as long as nobody mends the cause: retrying does not help.
    fn find_customer(&self, event_id: &str) -> Result<(), HandlerError> {
        let unregistered = self.troubles.unregistered.contains(event_id);
        if unregistered && !register::is_complete(&self.directory) {
            let error = HandlerError::retry("customer cust-900 is not in the tax register");
            return Err(error.with_type("UnknownCustomer"));
        }
        Ok(())
    }

    /// The job that does the work of this event, if one does.
    fn job_of(&self, event_id: &str) -> Option<Handoff> {
        let job = self.troubles.jobs.get(event_id)?;
        Some(Handoff {
            reason: "the bank pays back amounts of this size".to_owned(),
            external_job_id: Some(job.clone()),
            expected_by: None,
        })
    }

    /// Stands for a call to another service, which is out of order for the events that the plan
    /// chose.
    fn ask_tax_service(&self, context: &HandlerContext) -> Result<(), HandlerError> {
        let failures = context
            .message_id()
            .and_then(|id| self.failures.get(id))
            .copied()
            .unwrap_or(0);
        let attempt = context.retry_count().saturating_add(1);
        if attempt > failures {
            return Ok(());
        }
        Err(HandlerError::retry(format!(
            "the tax service did not answer (attempt {attempt})"
        ))
        .with_type("TaxServiceUnavailable"))
    }
}

/// Books an event: the handler of every event type.
pub(super) async fn book<E: Bookable>(
    billing: Billing,
    event: E,
    context: HandlerContext,
) -> Result<(), HandlerError> {
    billing.ask_tax_service(&context)?;
    let event_id = context.event_id().map_or("", |id| id.as_str());
    billing.find_customer(event_id)?;
    if let Some(job) = billing.job_of(event_id) {
        context.mark_pending_handoff(job);
        return Ok(());
    }
    let publication = context
        .headers()
        .correlation_id
        .as_deref()
        .and_then(Publication::number_of)
        .ok_or_else(|| HandlerError::dead_letter("the message names no publication of the demo"))?;
    let execution = Execution {
        publication,
        message_id: context.message_id().map(ToOwned::to_owned),
        session: context.session_id().map(ToOwned::to_owned),
        run: billing.run,
    };
    billing
        .ledger
        .enter(execution, E::EVENT_TYPE, event.booking())
        .await
        .map_err(|error| {
            if error.is_transient() {
                HandlerError::transient(error.to_string())
            } else {
                HandlerError::from(error)
            }
        })
}
