use std::time::Duration;

use nimbus_inbox_core::Timestamp;

use super::{Change, Circuit, CircuitBreaker, Gate};

fn at(seconds: u64) -> Timestamp {
    Timestamp::UNIX_EPOCH.saturating_add(Duration::from_secs(seconds))
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn fail(circuit: &Circuit, now: u64) -> Change {
    let run = circuit.admit(at(now)).expect("it admits");
    circuit.failed(&run, at(now))
}

fn succeed(circuit: &Circuit, now: u64) -> Change {
    let run = circuit.admit(at(now)).expect("it admits");
    circuit.succeeded(&run)
}

/// SUB-23: consecutive failures open it; a success between them starts the count anew.
#[test]
fn consecutive_failures_open_it() {
    let circuit = Circuit::new(CircuitBreaker::consecutive(3));
    for now in 0..2 {
        assert_eq!(fail(&circuit, now), Change::None);
    }
    assert_eq!(succeed(&circuit, 2), Change::None);
    for now in 3..5 {
        assert_eq!(fail(&circuit, now), Change::None);
    }
    assert_eq!(fail(&circuit, 5), Change::Opened(seconds(30)));
    assert_eq!(circuit.gate(at(15)), Gate::Open(seconds(20)));
    assert!(circuit.admit(at(34)).is_none());
}

/// SUB-23: with a window, so many failures within it open it, whatever succeeds meanwhile; older ones
/// no longer count.
#[test]
fn failures_within_a_window_open_it() {
    let circuit = Circuit::new(CircuitBreaker::within(3, seconds(10)));
    for now in [0, 5, 10, 19] {
        assert_eq!(fail(&circuit, now), Change::None, "{now}");
        assert_eq!(succeed(&circuit, now), Change::None);
    }
    assert_eq!(fail(&circuit, 19), Change::Opened(seconds(30)));
}

/// SUB-23: half-open, it lets one run through at a time; a failure opens it for twice as long, up to
/// a limit, and so many successes in a row close it, which starts the times anew.
#[test]
fn probes_close_it_or_open_it_for_longer() {
    let breaker = CircuitBreaker::consecutive(1).open_at_most(seconds(100));
    let circuit = Circuit::new(breaker.probes(2));
    assert_eq!(fail(&circuit, 0), Change::Opened(seconds(30)));
    let probe = circuit.admit(at(30)).expect("its time is over");
    assert_eq!(circuit.gate(at(30)), Gate::HalfOpen);
    assert!(circuit.admit(at(30)).is_none(), "a second probe");
    assert_eq!(circuit.failed(&probe, at(31)), Change::Opened(seconds(60)));
    assert_eq!(fail(&circuit, 91), Change::Opened(seconds(100)));

    // A run that says nothing leaves the turn to the next.
    let nothing = circuit.admit(at(191)).expect("its time is over");
    assert_eq!(circuit.ended(&nothing), Change::NextProbe);
    assert_eq!(succeed(&circuit, 191), Change::NextProbe);
    assert_eq!(succeed(&circuit, 191), Change::Closed);
    assert_eq!(circuit.gate(at(191)), Gate::Closed);
    assert_eq!(fail(&circuit, 192), Change::Opened(seconds(30)));
}

/// SUB-23: a run that began before the circuit changed counts no more.
#[test]
fn late_ends_count_as_nothing() {
    let circuit = Circuit::new(CircuitBreaker::consecutive(1));
    let late = [(); 3].map(|()| circuit.admit(at(0)).expect("it is closed"));
    assert_eq!(fail(&circuit, 0), Change::Opened(seconds(30)));
    let probe = circuit.admit(at(30)).expect("its time is over");
    assert_eq!(circuit.succeeded(&late[0]), Change::None);
    assert_eq!(circuit.failed(&late[1], at(30)), Change::None);
    assert_eq!(circuit.ended(&late[2]), Change::None);
    assert!(circuit.admit(at(30)).is_none(), "the probe is under way");
    assert_eq!(circuit.succeeded(&probe), Change::Closed);
}

/// SUB-23: a clock that is put back does not keep it open for so much longer.
#[test]
fn a_clock_put_back_does_not_keep_it_open() {
    let circuit = Circuit::new(CircuitBreaker::consecutive(1));
    assert_eq!(fail(&circuit, 3_600), Change::Opened(seconds(30)));
    assert_eq!(circuit.gate(at(10)), Gate::Open(seconds(30)));
    assert_eq!(circuit.gate(at(40)), Gate::HalfOpen);
}

/// SUB-23: what can't work is told.
#[test]
fn options_that_can_not_work_are_told() {
    let fine = CircuitBreaker::within(5, seconds(60));
    assert_eq!(fine.problems().count(), 0);
    let bad = CircuitBreaker::within(0, Duration::ZERO);
    let bad = bad.probes(0).open_at_most(seconds(29));
    assert_eq!(bad.problems().count(), 4);
}
