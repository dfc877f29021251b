//! What an older version left: events deferred at the broker, and the request to go on with them.

use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_testing::InMemoryTransport;
use nimbus_messaging::{
    Address, Headers, MessageContent, MessageType, SessionState, Settlement, Transport,
    TransportError,
};
use tokio::runtime::Builder;

use crate::event::ENDPOINT;
use crate::world::{World, now, session};

/// Defers the first events of the first session.
pub(crate) fn defer(world: &mut World<'_>, outside: &InMemoryTransport) {
    let events = world.scenario.deferred;
    for _ in 0..events {
        world.publish();
    }
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing of the system");
    let numbers = runtime
        .block_on(defer_waiting(outside, events))
        .expect("nothing disturbs the broker yet");
    let state = SessionState {
        deferred_sequence_numbers: numbers,
        ..SessionState::default()
    };
    let session = session(0);
    world
        .broker
        .put_session_json(ENDPOINT, &session, state.to_json());
    world.oracle.state_found(&session, state);
    let request = Headers {
        message_id: Some("continue".to_owned()),
        session_id: Some(session.as_str().to_owned()),
        message_type: MessageType::ContinuationRequest,
        from: Some(Address::CONTINUATION),
        ..Headers::default()
    };
    let request = request.into_envelope(&MessageContent::default());
    now(world.publisher.send(vec![request])).expect("the broker takes it");
}

async fn defer_waiting(
    outside: &InMemoryTransport,
    events: u8,
) -> Result<Vec<i64>, TransportError> {
    let endpoint = EndpointId::new(ENDPOINT).expect("it is a usable name");
    let mut numbers = Vec::new();
    let Some(mut lane) = outside.lanes(&endpoint).await?.accept_next().await? else {
        return Ok(numbers);
    };
    for _ in 0..events {
        if let Some(delivery) = lane.receive(Duration::ZERO).await? {
            numbers.extend(delivery.sequence_number);
            delivery.receipt.settle(Settlement::Defer).await?;
        }
    }
    lane.release().await?;
    Ok(numbers)
}
