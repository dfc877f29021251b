use std::collections::BTreeMap;
use std::sync::Arc;

use nimbus_subscriber::{HandlerContext, HandlerError};

use super::Instructions;
use crate::billing::Bookable;
use crate::ledger::{Execution, Ledger};
use crate::plan::Publication;

/// What the handlers of billing share.
#[derive(Debug, Clone)]
pub(super) struct Billing {
    ledger: Ledger,
    run: u32,
    failures: Arc<BTreeMap<String, u32>>,
}

impl Billing {
    pub(super) fn new(ledger: Ledger, instructions: Instructions) -> Self {
        Self {
            ledger,
            run: instructions.run,
            failures: Arc::new(instructions.failures),
        }
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
