use std::collections::BTreeMap;

use super::order::{self, Order, Step};
use crate::consumer::Troubles;
use crate::events::Event;
use crate::ledger::Execution;
use crate::plan::{Origin, Plan, Publication};

/// The external job that pays back.
const JOB: &str = "bank-transfer-7";

/// Two orders that need somebody outside.
#[derive(Debug)]
pub(crate) struct Scene {
    /// What is published, numbered behind the first act's publications.
    pub(crate) plan: Plan,
    /// A failing event blocks its session.
    pub(crate) blocked: Order,
    /// The work of an event goes on in an external job.
    pub(crate) handed_off: Order,
}

impl Scene {
    /// Whatever the first act's events are, this one's are others.
    pub(crate) fn beside(first: &Plan) -> serde_json::Result<Self> {
        let mut sessions = unused_sessions(&first.events);
        let mut events = Vec::new();
        let mut add = |steps: &[Step], trouble| {
            // There are more numbers than events.
            let session = sessions.next().unwrap_or_default();
            let of_order = order::events(&session, steps)?;
            let ids = of_order.iter().map(|event| event.message_id.clone());
            let order = Order {
                events: ids.collect(),
                session,
                trouble,
            };
            events.extend(of_order);
            serde_json::Result::Ok(order)
        };
        let blocked = add(&order::unregistered(), 1)?;
        let handed_off = add(&order::paid_back(), 2)?;
        Ok(Self {
            plan: plan(events, first.publications.len()),
            blocked,
            handed_off,
        })
    }

    pub(crate) fn orders(&self) -> [&Order; 2] {
        [&self.blocked, &self.handed_off]
    }

    /// The event whose work an execution was, if it is one of this act's.
    pub(crate) fn event_of(&self, execution: &Execution) -> Option<&str> {
        let publications = self.plan.publications.iter();
        let mut of_this = publications.filter(|one| one.number == execution.publication);
        let publication = of_this.next()?;
        Some(&self.plan.event(publication).message_id)
    }

    /// What the consumer is told of them.
    pub(crate) fn troubles(&self) -> Troubles {
        Troubles {
            unregistered: [self.blocked.troubled().to_owned()].into(),
            jobs: [(self.handed_off.troubled().to_owned(), JOB.to_owned())].into(),
        }
    }
}

fn plan(events: Vec<Event>, first_number: usize) -> Plan {
    let publications = (0..events.len()).map(|event| Publication {
        number: first_number + event,
        event,
        origin: Origin::File,
    });
    Plan {
        publications: publications.collect(),
        events,
        failures: BTreeMap::new(),
        legs: Vec::new(),
    }
}

/// Names of orders that no event speaks of.
fn unused_sessions(events: &[Event]) -> impl Iterator<Item = String> {
    let names = (9_001..).map(|number| format!("order-{number}"));
    names.filter(|name| {
        !events.iter().any(|event| {
            event.session.as_ref() == Some(name) || event.message_id.starts_with(name.as_str())
        })
    })
}
