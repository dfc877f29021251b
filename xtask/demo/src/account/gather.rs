use std::collections::BTreeSet;

use anyhow::Context;
use nimbus_messaging::{Address, Envelope, Headers, MessageContent, MessageType};

use super::{Evidence, Outcome, Sent};
use crate::plan::{Origin, Plan, Publication};
use crate::queue::ENDPOINT;
use crate::supervise::{Supervisor, recorded};

/// The error text of a message that was skipped because its work was done before.
const DUPLICATE: &str = "DuplicateDetected";

/// Collects what the run left behind. Nothing is consumed, so that all of it can be inspected.
pub(crate) async fn gather(plan: &Plan, supervisor: &Supervisor<'_>) -> anyhow::Result<Evidence> {
    let mut evidence = Evidence {
        sent: plan
            .publications
            .iter()
            .map(|publication| sent(plan, publication))
            .collect(),
        executions: supervisor
            .ledger()
            .executions()
            .await
            .context("reading the ledger failed")?,
        deliveries: supervisor.observed().deliveries.clone(),
        kills: supervisor.observed().kills.clone(),
        ..Evidence::default()
    };
    let ids: BTreeSet<&str> = evidence
        .sent
        .iter()
        .map(|sent| sent.message_id.as_str())
        .collect();
    evidence.recorded = recorded(supervisor.inbox(), ids.into_iter()).await?;
    let inspector = supervisor.inspector();
    for envelope in inspector.messages(Address::RESOLVER, u32::MAX).await? {
        match outcome(&envelope) {
            Some((publication, outcome)) => evidence.outcomes.add(publication, outcome),
            None => evidence.unattributed += 1,
        }
    }
    for letter in inspector.dead_letters(ENDPOINT, u32::MAX).await? {
        let reason = format!("{}: {}", letter.reason, letter.description);
        match publication(&letter.envelope) {
            Some(publication) => {
                evidence.dead_letters.insert(publication, reason);
            }
            None => evidence.unattributed += 1,
        }
    }
    Ok(evidence)
}

fn sent(plan: &Plan, publication: &Publication) -> Sent {
    let event = plan.event(publication);
    Sent {
        number: publication.number,
        line: event.line,
        message_id: event.message_id.clone(),
        session: event.session.clone(),
        event_type: event.event_type.clone(),
        repeated: publication.origin == Origin::Repeated,
    }
}

fn publication(envelope: &Envelope) -> Option<usize> {
    Publication::number_of(envelope.correlation_id.as_deref()?)
}

/// What a message to the resolver says, and of which publication.
fn outcome(envelope: &Envelope) -> Option<(usize, Outcome)> {
    let publication = publication(envelope)?;
    let headers = Headers::read(envelope).ok()?;
    let text = MessageContent::decode(&envelope.body)
        .ok()
        .and_then(|content| content.error_content?.error_text);
    let outcome = match headers.message_type {
        MessageType::ResolutionResponse => Outcome::Resolved,
        MessageType::SkipResponse if text.as_deref() == Some(DUPLICATE) => Outcome::Duplicate,
        MessageType::DeferralResponse => Outcome::Deferred,
        MessageType::UnsupportedResponse => Outcome::Unsupported,
        MessageType::ErrorResponse => match headers.dead_letter_reason {
            None => Outcome::Failed,
            Some(reason) => {
                let description = headers.dead_letter_error_description.unwrap_or_default();
                Outcome::DeadLettered(format!("{reason}: {description}"))
            }
        },
        other => Outcome::Unexpected(format!("{other}: {}", text.unwrap_or_default())),
    };
    Some((publication, outcome))
}
