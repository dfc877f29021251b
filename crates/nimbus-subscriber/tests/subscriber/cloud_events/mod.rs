//! CloudEvents as events of an endpoint (SUB-06).

mod identity;
mod recognition;
mod refusals;
mod sessions;

use nimbus_messaging::{Envelope, PropertyValue};
use nimbus_subscriber::{ContentMode, RunReport, SubscriberBuilder};

use crate::support::World;

/// Both content modes, by the property names of binary mode.
const MODES: [&str; 3] = ["structured", "cloudEvents:", "ce-"];

/// A CloudEvent about an order: id `<order>`, source `/shop`, type `OrderPlaced`, subject
/// `order-<order>`, as the broker's message `m-<order>` in session `s`.
#[derive(Clone)]
struct Order {
    attributes: Vec<(String, String)>,
    data: String,
    message_id: Option<String>,
    session_id: Option<String>,
}

fn order(order: &str) -> Order {
    let attributes = [
        ("specversion", "1.0"),
        ("id", order),
        ("source", "/shop"),
        ("type", "OrderPlaced"),
        ("subject", &format!("order-{order}")),
    ];
    Order {
        attributes: attributes
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        data: format!(r#"{{"order":"{order}"}}"#),
        message_id: Some(format!("m-{order}")),
        session_id: Some("s".to_owned()),
    }
}

impl Order {
    fn with(mut self, attribute: &str, value: &str) -> Self {
        self = self.without(attribute);
        self.attributes
            .push((attribute.to_owned(), value.to_owned()));
        self
    }

    fn without(mut self, attribute: &str) -> Self {
        self.attributes.retain(|(name, _)| name != attribute);
        self
    }

    fn with_message_id(mut self, id: Option<&str>) -> Self {
        self.message_id = id.map(ToOwned::to_owned);
        self
    }

    fn in_session(mut self, session: Option<&str>) -> Self {
        self.session_id = session.map(ToOwned::to_owned);
        self
    }

    /// The event as a message, in one of [`MODES`].
    fn to(&self, mode: &str) -> Envelope {
        let mut message = Envelope {
            message_id: self.message_id.clone(),
            session_id: self.session_id.clone(),
            ..Envelope::default()
        };
        if mode == "structured" {
            let members = self.attributes.iter().map(|(name, value)| {
                let value = serde_json::Value::from(value.as_str());
                format!("{name:?}:{value},")
            });
            let members: String = members.collect();
            message.content_type = Some("application/cloudevents+json; charset=utf-8".to_owned());
            message.body = format!(r#"{{{members}"data":{}}}"#, self.data).into();
            return message;
        }
        for (name, value) in &self.attributes {
            let value = PropertyValue::from(value.as_str());
            message.properties.set(format!("{mode}{name}"), value);
        }
        message.content_type = Some("application/json".to_owned());
        message.body = self.data.clone().into();
        message
    }
}

/// Runs a subscriber in this mode until nothing happens any more.
async fn run(world: &World, mode: ContentMode) -> RunReport {
    world.run_with(in_mode(mode)).await
}

fn in_mode(mode: ContentMode) -> impl Fn(SubscriberBuilder) -> SubscriberBuilder {
    move |builder| builder.content_mode(mode)
}
