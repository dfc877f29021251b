use async_trait::async_trait;
use nimbus_inbox_testing::{
    BrokerCall, BrokerHook, BrokerOperation, BrokerPoint, InMemoryBroker, ProcessId,
};
use nimbus_messaging::{Address, TransportError};

use crate::effect::Effect;
use crate::event::ENDPOINT;
use crate::gate::Gate;
use crate::oracle::Oracle;

/// Has the broker's effects wait at the gate, and tells the oracle of them.
#[derive(Debug)]
pub(crate) struct BrokerSteps {
    pub(crate) gate: Gate,
    pub(crate) oracle: Oracle,
    pub(crate) broker: InMemoryBroker,
    /// Publishes and gives the operator's commands, whenever the explorer says so.
    pub(crate) outside: ProcessId,
}

#[async_trait]
impl BrokerHook for BrokerSteps {
    async fn reach(&self, point: BrokerPoint, call: &BrokerCall) -> Result<(), TransportError> {
        use BrokerOperation as Op;
        // A process that starts up has no effect.
        let starts = matches!(call.operation, Op::Verify | Op::OpenSender | Op::OpenLanes);
        if starts || call.process == self.outside {
            return Ok(());
        }
        match point {
            BrokerPoint::Called => {}
            BrokerPoint::Before | BrokerPoint::Between => {
                if point == BrokerPoint::Between {
                    // The first of two steps may have written the state.
                    self.note(call);
                }
                let effect = Effect::of(point, call);
                if !effect.is_of_lane() {
                    self.oracle.arrives(call.process);
                }
                self.gate.pass(call.process, effect).await;
            }
            BrokerPoint::After => self.note(call),
        }
        Ok(())
    }
}

impl BrokerSteps {
    fn note(&self, call: &BrokerCall) {
        use BrokerOperation as Op;
        match (call.operation, call.messages.first()) {
            (Op::Receive, Some(message)) => self.oracle.received(call.process, message),
            (Op::Complete, Some(message)) => {
                self.oracle
                    .completed(call.process, message.message_id.as_deref());
            }
            (Op::ReceiveDeferred, Some(_)) => self.oracle.resumed(call.process),
            (Op::ReadParked, _) => self.oracle.copy_read(call.process),
            (Op::Send, Some(message)) if call.address == Address::RESOLVER => {
                self.oracle.told(call.process, message);
            }
            (Op::WriteState | Op::Park | Op::Unpark, _) => {
                if let Some(session) = &call.session {
                    let state = self.broker.session_state(ENDPOINT, session);
                    let copies = self.broker.parked(ENDPOINT, session);
                    let copies: Vec<_> =
                        copies.iter().map(|copy| copy.reference.sequence).collect();
                    self.oracle.state_written(
                        call.process,
                        session,
                        call.operation,
                        &state,
                        &copies,
                    );
                }
            }
            (Op::Fence | Op::ReadState, _) => {
                if let Some(session) = &call.session {
                    let state = self.broker.session_state(ENDPOINT, session);
                    let pending = self
                        .gate
                        .look(|waiting| waiting.iter().any(|call| call.effect.is_of_message()));
                    self.oracle
                        .state_taken(call.process, session, &state, pending);
                }
            }
            _ => {}
        }
    }
}
