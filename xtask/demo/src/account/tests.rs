use std::collections::BTreeMap;

use super::*;
use crate::ledger::Execution;
use crate::plan::Kill;
use crate::signal::Delivered;
use crate::supervise::Aftermath;

/// Two sessions of two messages, the first of which was sent twice; all went well.
fn good() -> Evidence {
    let mut evidence = Evidence::default();
    for (number, (id, session)) in [("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b")]
        .into_iter()
        .enumerate()
    {
        evidence.sent.push(sent(number, id, session));
        evidence.executions.push(execution(number, id, session, 1));
        evidence.recorded.insert(id.to_owned());
        evidence.outcomes.add(number, Outcome::Resolved);
        evidence.deliveries.push((1, delivered(number, 1)));
    }
    evidence.sent.push(Sent {
        repeated: true,
        ..sent(4, "a1", "a")
    });
    evidence.outcomes.add(4, Outcome::Duplicate);
    evidence.deliveries.push((1, delivered(4, 1)));
    evidence
}

fn sent(number: usize, id: &str, session: &str) -> Sent {
    Sent {
        number,
        line: number + 1,
        message_id: id.to_owned(),
        session: Some(session.to_owned()),
        event_type: "OrderPlaced".to_owned(),
        repeated: false,
    }
}

fn execution(publication: usize, id: &str, session: &str, run: u32) -> Execution {
    Execution {
        publication,
        message_id: Some(id.to_owned()),
        session: Some(session.to_owned()),
        run,
    }
}

fn delivered(publication: usize, delivery_count: u32) -> Delivered {
    Delivered {
        publication: Some(publication),
        message_type: "EventRequest".to_owned(),
        delivery_count,
    }
}

fn killed(run: u32, kill: Kill, unrecorded: &[(usize, &str)]) -> Aftermath {
    let unrecorded = unrecorded
        .iter()
        .map(|(number, id)| (*number, (*id).to_owned()));
    Aftermath {
        run,
        pid: 1,
        kill,
        unrecorded: unrecorded.collect(),
        unsettled: BTreeMap::new(),
    }
}

fn findings(evidence: &Evidence) -> Vec<Finding> {
    Account::of(evidence).findings
}

#[test]
fn a_good_run_is_clean_and_adds_up() {
    let account = Account::of(&good());
    assert!(account.is_clean(), "{:?}", account.findings);
    let totals = &account.totals;
    assert_eq!((totals.published, totals.published_again), (5, 1));
    assert_eq!((totals.handled, totals.duplicates, totals.lost), (4, 1, 0));
    assert_eq!(
        (totals.delivered, totals.deliveries, totals.sessions),
        (5, 5, 2)
    );
    assert!(account.executed_again.is_empty());
}

/// A message of which there is no trace at all.
#[test]
fn a_lost_message_is_found() {
    let mut evidence = good();
    evidence.sent.push(sent(5, "a3", "a"));
    assert_eq!(
        findings(&evidence),
        [Finding::Lost {
            message_id: "a3".to_owned(),
            line: 6
        }]
    );
    assert_eq!(Account::of(&evidence).totals.lost, 1);
}

/// The subscriber says that it skipped a message whose work nobody did.
#[test]
fn a_message_that_was_skipped_and_never_handled_is_lost() {
    let mut evidence = good();
    evidence.sent.push(sent(5, "a3", "a"));
    evidence.recorded.insert("a3".to_owned());
    for word in [Outcome::Duplicate, Outcome::Resolved] {
        evidence.outcomes.add(5, word);
        assert!(matches!(findings(&evidence)[..], [Finding::Lost { .. }]));
    }
}

#[test]
fn a_repeated_message_that_was_retried_with_the_first_is_a_duplicate() {
    let mut evidence = good();
    evidence.sent.push(sent(5, "b2", "b"));
    evidence.outcomes.add(5, Outcome::Failed);
    evidence.outcomes.add(5, Outcome::Resolved);
    let account = Account::of(&evidence);
    assert!(account.is_clean(), "{:?}", account.findings);
    assert_eq!(account.totals.duplicates, 2);
    assert_eq!(
        (account.totals.retried, account.totals.failed_attempts),
        (1, 1)
    );
}

#[test]
fn work_without_a_record_or_a_word_to_the_resolver_is_found() {
    let mut evidence = good();
    evidence.recorded.remove("b2");
    let message_id = "b2".to_owned();
    assert_eq!(findings(&evidence), [Finding::Unrecorded { message_id }]);

    let mut evidence = good();
    evidence.sent.push(sent(5, "a3", "a"));
    evidence.executions.push(execution(5, "a3", "a", 1));
    evidence.recorded.insert("a3".to_owned());
    let untold = |message_id: &str, publication| Finding::Untold {
        message_id: message_id.to_owned(),
        publication,
    };
    assert_eq!(findings(&evidence), [untold("a3", 5)]);

    // A repeat that was set aside and then forgotten.
    let mut evidence = good();
    evidence.sent.push(sent(5, "b2", "b"));
    evidence.outcomes.add(5, Outcome::Deferred);
    assert_eq!(findings(&evidence), [untold("b2", 5)]);
}

/// INB-40: effects before the record, then a crash, is a documented window.
#[test]
fn a_second_execution_after_a_kill_before_the_record_is_explained() {
    let mut evidence = good();
    evidence.executions.push(execution(2, "a2", "a", 2));
    let kill = Kill::BeforeRecord("a2".to_owned());
    evidence.kills.push(killed(1, kill, &[(2, "a2")]));
    let account = Account::of(&evidence);
    assert!(account.is_clean(), "{:?}", account.findings);
    assert_eq!(
        account.executed_again,
        [Again {
            message_id: "a2".to_owned(),
            times: 2,
            causes: vec![Cause::KilledBeforeRecord { run: 1 }],
        }]
    );
}

#[test]
fn a_second_execution_of_what_was_recorded_is_found() {
    let mut evidence = good();
    evidence.executions.push(execution(2, "a2", "a", 2));
    evidence
        .kills
        .push(killed(1, Kill::AfterDeliveries(3), &[]));
    let again = |times| Finding::ExecutedAgain {
        message_id: "a2".to_owned(),
        times,
    };
    assert_eq!(findings(&evidence), [again(2)]);

    // Also in one process, and also where the other execution is explained.
    evidence.kills = vec![killed(1, Kill::AfterDeliveries(3), &[(2, "a2")])];
    assert_eq!(findings(&evidence), []);
    evidence.executions.push(execution(2, "a2", "a", 2));
    assert_eq!(findings(&evidence), [again(3)]);
}

#[test]
fn a_second_execution_after_a_lost_lock_is_explained_by_the_redelivery() {
    let mut evidence = good();
    evidence.executions.push(execution(2, "a2", "a", 1));
    assert!(matches!(
        findings(&evidence)[..],
        [Finding::ExecutedAgain { .. }]
    ));
    evidence.deliveries.push((1, delivered(2, 2)));
    let account = Account::of(&evidence);
    assert!(account.is_clean(), "{:?}", account.findings);
    assert_eq!(
        account.executed_again[0].causes,
        [Cause::LockExpired { run: 1 }]
    );
}

/// A redelivery after a kill is the first delivery to its consumer: it explains nothing there.
#[test]
fn a_redelivery_to_another_consumer_is_no_lost_lock() {
    let mut evidence = good();
    evidence.executions[2].run = 2;
    evidence.executions.push(execution(2, "a2", "a", 2));
    evidence.deliveries.push((2, delivered(2, 2)));
    assert!(matches!(
        findings(&evidence)[..],
        [Finding::ExecutedAgain { .. }]
    ));
}

#[test]
fn an_unusable_id_may_run_again_and_needs_no_record() {
    let mut evidence = good();
    evidence.sent.push(sent(5, " ", "a"));
    evidence.outcomes.add(5, Outcome::Resolved);
    for run in 1..=2 {
        evidence.executions.push(execution(5, " ", "a", run));
    }
    let account = Account::of(&evidence);
    assert!(account.is_clean(), "{:?}", account.findings);
    assert_eq!(account.executed_again[0].causes, [Cause::Unrecognisable]);
}

#[test]
fn a_message_handled_behind_a_later_one_is_found() {
    let mut evidence = good();
    evidence.executions.swap(0, 2);
    assert_eq!(
        findings(&evidence),
        [Finding::Reordered {
            session: "a".to_owned(),
            message_id: "a1".to_owned(),
            after: "a2".to_owned(),
        }]
    );
    assert_eq!(Account::of(&evidence).totals.out_of_order, 1);
}

/// The second execution of a message is out of order once a later one was handled.
#[test]
fn running_again_too_late_is_out_of_order() {
    let mut evidence = good();
    evidence.executions.push(execution(0, "a1", "a", 2));
    let kill = Kill::BeforeRecord("a1".to_owned());
    evidence.kills.push(killed(1, kill, &[(0, "a1")]));
    assert!(matches!(
        findings(&evidence)[..],
        [Finding::Reordered { .. }]
    ));
}

#[test]
fn messages_without_a_session_have_no_order() {
    let mut evidence = good();
    for execution in &mut evidence.executions {
        execution.session = None;
    }
    evidence.executions.reverse();
    assert_eq!(findings(&evidence), []);
}

#[test]
fn what_is_set_aside_is_named_with_its_reason() {
    let mut evidence = good();
    evidence.sent.push(sent(5, "a3", "a"));
    evidence.sent.push(sent(6, "a4", "a"));
    evidence.sent.push(sent(7, "a5", "a"));
    let reason = "UnreadableEvent: no total".to_owned();
    evidence
        .outcomes
        .add(5, Outcome::DeadLettered(reason.clone()));
    evidence.outcomes.add(6, Outcome::Unsupported);
    // Sent twice, and told once.
    evidence.sent.push(Sent {
        number: 8,
        repeated: true,
        ..evidence.sent[6].clone()
    });
    evidence.outcomes.add(8, Outcome::Unsupported);
    // The queue itself gave up on it, so the resolver knows nothing.
    evidence
        .dead_letters
        .insert(7, "MaxDeliveryCountExceeded: 10".to_owned());
    let account = Account::of(&evidence);
    assert!(account.is_clean(), "{:?}", account.findings);
    assert_eq!(
        (account.totals.dead_lettered, account.totals.unsupported),
        (2, 2)
    );
    assert_eq!(account.set_aside.len(), 3);
    assert_eq!(account.set_aside[0].1, Fate::DeadLettered(reason));
    assert_eq!(account.set_aside[1].1, Fate::Unsupported);
}

#[test]
fn a_kill_that_missed_its_point_proves_nothing() {
    let mut evidence = good();
    let kill = Kill::BeforeRecord("a2".to_owned());
    evidence.kills.push(killed(1, kill.clone(), &[(0, "a1")]));
    assert_eq!(findings(&evidence), [Finding::Missed(kill)]);
}

#[test]
fn what_nobody_asked_for_is_found() {
    let mut evidence = good();
    let outcome = "PendingHandoffResponse: ".to_owned();
    evidence
        .outcomes
        .add(0, Outcome::Unexpected(outcome.clone()));
    evidence.unattributed = 2;
    evidence.executions.push(execution(9, "z", "z", 1));
    assert_eq!(
        findings(&evidence),
        [
            Finding::Unexpected {
                message_id: "a1".to_owned(),
                outcome
            },
            Finding::Unattributed(2),
            Finding::Unasked { publication: 9 },
        ]
    );
}
