//! The worlds that are explored.

use crate::event::EventKind;
use crate::limits::{Disturbance as D, Limits};
use crate::scenario::{InboxKind, Operator, Scenario};

/// All scenarios, each allowing so many disturbances.
#[must_use]
pub fn catalogue(depth: u8) -> Vec<Scenario> {
    let mut scenarios = vec![
        failures("failures"),
        Scenario {
            atomic_sessions: false,
            inbox: InboxKind::Apart,
            operator: Operator::Skips,
            limits: failures("").limits.with(D::Duplicate, 1),
            ..failures("failures-apart")
        },
        Scenario {
            inbox: InboxKind::Transaction,
            ..failures("transaction")
        },
        Scenario {
            inbox: InboxKind::Transaction,
            ..locks("locks-transaction", 1)
        },
        arrivals("arrivals"),
        operators("operators"),
        locks("locks", 1),
        Scenario {
            atomic_sessions: false,
            inbox: InboxKind::Apart,
            ..locks("locks-apart", 1)
        },
        locks("receivers", 2),
        deferral("deferral"),
        kinds("kinds"),
        Scenario {
            sessions: vec![2, 2],
            waiting: 4,
            ..locks("sessions", 1)
        },
        Scenario {
            anonymous: true,
            ..failures("anonymous")
        },
        Scenario {
            inbox: InboxKind::None,
            ..failures("no-inbox")
        },
    ];
    for scenario in &mut scenarios {
        scenario.limits.depth = depth;
    }
    scenarios
}

/// The scenario with this name.
#[must_use]
pub fn scenario(name: &str, depth: u8) -> Option<Scenario> {
    catalogue(depth)
        .into_iter()
        .find(|scenario| scenario.name == name)
}

/// Crashes, and handlers that end in every way, with retries.
fn failures(name: &str) -> Scenario {
    Scenario {
        retries: 1,
        limits: Limits::default()
            .with(D::Crash, 3)
            .with(D::Failure, 4)
            .with(D::Handoff, 2)
            .with(D::Discard, 2)
            .with(D::DeadLetter, 2)
            .with(D::Outage, 2)
            .with(D::Switch, 1),
        ..Scenario::new(name, 3)
    }
}

/// Messages that come while others are parked or drained, and once more.
fn arrivals(name: &str) -> Scenario {
    Scenario {
        retries: 1,
        waiting: 1,
        limits: Limits::default()
            .with(D::Crash, 2)
            .with(D::Failure, 3)
            .with(D::Handoff, 1)
            .with(D::Discard, 1)
            .with(D::Early, 3)
            .with(D::Duplicate, 2),
        ..Scenario::new(name, 4)
    }
}

/// Commands of operators, whether or not they make sense.
fn operators(name: &str) -> Scenario {
    Scenario {
        retries: 1,
        waiting: 2,
        limits: Limits::default()
            .with(D::Crash, 1)
            .with(D::Failure, 3)
            .with(D::Handoff, 2)
            .with(D::Discard, 1)
            .with(D::DeadLetter, 1)
            .with(D::Early, 1)
            .with(D::Duplicate, 1)
            .with(D::Command, 3),
        ..Scenario::new(name, 3)
    }
}

/// Locks that run out while their holder goes on.
fn locks(name: &str, receivers: u8) -> Scenario {
    Scenario {
        receivers,
        retries: 1,
        limits: Limits::default()
            .with(D::Crash, 1)
            .with(D::Expiry, 2)
            .with(D::Failure, 3)
            .with(D::Handoff, 1)
            .with(D::Switch, 4),
        ..Scenario::new(name, 2)
    }
}

/// Events that an older version deferred at the broker.
fn deferral(name: &str) -> Scenario {
    Scenario {
        deferred: 2,
        waiting: 1,
        retries: 1,
        limits: Limits::default()
            .with(D::Crash, 2)
            .with(D::Expiry, 1)
            .with(D::Failure, 2)
            .with(D::Handoff, 1)
            .with(D::Discard, 1)
            .with(D::DeadLetter, 1)
            .with(D::Outage, 1)
            .with(D::Switch, 2),
        ..Scenario::new(name, 3)
    }
}

/// Messages that no handler takes, and one that comes back.
fn kinds(name: &str) -> Scenario {
    Scenario {
        kinds: vec![
            EventKind::Handled,
            EventKind::Unsupported,
            EventKind::Returned,
            EventKind::Heartbeat,
        ],
        retries: 1,
        waiting: 2,
        limits: Limits::default()
            .with(D::Crash, 2)
            .with(D::Expiry, 1)
            .with(D::Failure, 2)
            .with(D::Handoff, 1)
            .with(D::Early, 2)
            .with(D::Duplicate, 1)
            .with(D::Command, 1),
        ..Scenario::new(name, 4)
    }
}
