use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_testing::BrokerOptions;
use nimbus_messaging::{
    Address, Envelope, Headers, MessageContent, MessageType, SessionState, Settlement, Transport,
};

use super::{ENDPOINT, World};

/// A session whose events `orders` an older version deferred at the broker.
pub(crate) async fn deferred(orders: &[&str], options: BrokerOptions) -> World {
    let world = World::with(options).await;
    let messages = orders
        .iter()
        .map(|order| World::event(order).with_session("s").to(ENDPOINT));
    defer(&world, messages.collect()).await;
    world
}

/// Has the broker keep messages aside, and the state of session `s` refer to them.
pub(crate) async fn defer(world: &World, messages: Vec<Envelope>) {
    let expected = messages.len();
    for message in messages {
        world.publish(message).await;
    }
    let transport = world.broker.connect();
    let endpoint = EndpointId::new(ENDPOINT).unwrap();
    let mut lanes = transport.lanes(&endpoint).await.unwrap();
    let mut lane = lanes.accept_next().await.unwrap().unwrap();
    let mut numbers = Vec::new();
    for _ in 0..expected {
        let delivery = lane.receive(Duration::from_secs(1)).await.unwrap().unwrap();
        numbers.push(delivery.sequence_number.unwrap());
        delivery.receipt.settle(Settlement::Defer).await.unwrap();
    }
    lane.release().await.unwrap();
    world.set_state(&SessionState {
        deferred_sequence_numbers: numbers,
        ..SessionState::default()
    });
}

pub(crate) fn continuation() -> Headers {
    Headers {
        message_id: Some("continue".to_owned()),
        session_id: Some("s".to_owned()),
        message_type: MessageType::ContinuationRequest,
        from: Some(Address::CONTINUATION),
        ..Headers::default()
    }
}

pub(crate) async fn request(world: &World, continuation: Headers) {
    world
        .publish(continuation.into_envelope(&MessageContent::default()))
        .await;
}
