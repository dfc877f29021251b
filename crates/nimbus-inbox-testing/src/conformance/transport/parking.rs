use std::num::NonZeroU32;

use nimbus_messaging::{Cas, ParkedCopy, ParkedRef, PropertyValue, SessionState, StateVersion};

use super::session_state::{counting, expect_shut_out, written};
use super::subject::{HeldLane, SessionUnderTest, Subject, expect, message};
use super::{TransportCase, cases};
use crate::conformance::dropping::drop_after;

pub(super) const CASES: &[TransportCase] = cases![SessionStore:
    parking_keeps_copy_and_state,
    a_copy_keeps_its_message,
    copies_come_by_sequence_then_id,
    the_same_copy_again_is_one_of_the_next_generation,
    a_copy_never_overwrites_one_with_another_id,
    unparking_removes_the_copy_and_keeps_the_state,
    unparking_an_old_generation_removes_nothing,
    unparking_what_is_gone_keeps_the_state,
    parking_at_an_old_version_counts_nothing,
    unparking_at_an_old_version_removes_nothing,
    sessions_have_copies_of_their_own,
    a_late_holder_removes_no_copy,
    parking_dropped_at_any_await_counts_no_copy_that_is_not_there,
    unparking_dropped_at_any_await_removes_no_copy_that_is_not_settled,
];

fn copy(sequence: i64, id: &str) -> ParkedCopy {
    ParkedCopy {
        reference: ParkedRef {
            sequence,
            id: id.to_owned(),
            // The store says which generation it is.
            generation: 77,
        },
        envelope: message(id, "s"),
    }
}

impl SessionUnderTest {
    /// Parks a copy, which must go through.
    async fn park(
        &self,
        copy: &ParkedCopy,
        state: &SessionState,
        expected: StateVersion,
    ) -> StateVersion {
        let cas = self.store.park(&self.session, copy, state, expected).await;
        written(expect("parking", cas))
    }

    async fn parked_up_to(&self, limit: u32) -> Vec<ParkedCopy> {
        let limit = NonZeroU32::new(limit).expect("the suite reads at least one copy");
        let parked = self.store.parked(&self.session, limit).await;
        expect("reading the parked copies", parked)
    }

    async fn parked(&self) -> Vec<ParkedCopy> {
        self.parked_up_to(1_000).await
    }

    /// The only copy there is.
    async fn only_parked(&self) -> ParkedRef {
        let parked = self.parked().await;
        let [only] = &parked[..] else {
            panic!("one copy was parked, and these are there: {parked:?}");
        };
        only.reference.clone()
    }
}

fn names(parked: &[ParkedCopy]) -> Vec<(i64, &str)> {
    let references = parked.iter().map(|copy| &copy.reference);
    references
        .map(|reference| (reference.sequence, reference.id.as_str()))
        .collect()
}

/// A session whose lane is held, and the version after its fence.
async fn held(subject: &Subject) -> (HeldLane, SessionUnderTest, StateVersion) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (lane, held) = process.hold_session(&endpoint, "s").await;
    let version = held.fence().await.version;
    (lane, held, version)
}

/// SUB-35
async fn parking_keeps_copy_and_state(subject: Subject) {
    let (_lane, held, version) = held(&subject).await;
    assert!(held.parked().await.is_empty());
    let raised = held.park(&copy(0, "m-1"), &counting(1), version).await;
    assert!(raised > version);
    let read = held.read().await;
    assert_eq!((read.state, read.version), (counting(1), raised));
    assert_eq!(names(&held.parked().await), [(0, "m-1")]);
}

/// SUB-33
async fn a_copy_keeps_its_message(subject: Subject) {
    let (_lane, held, mut version) = held(&subject).await;
    let mut full = copy(0, "full");
    full.envelope.correlation_id = Some("conversation".to_owned());
    full.envelope.reply_to = Some("ReplyEndpoint".to_owned());
    full.envelope.content_type = Some("application/json".to_owned());
    full.envelope.properties.set("Größe", "🚀");
    let number = PropertyValue::Integer(i64::MIN);
    full.envelope.properties.set("Number", number);
    full.envelope.body = (0..=u8::MAX).collect::<Vec<_>>().into();
    let mut bare = copy(1, "bare");
    bare.envelope = nimbus_messaging::Envelope::default();
    for (count, copy) in (1..).zip([&full, &bare]) {
        version = held.park(copy, &counting(count), version).await;
    }
    let parked: Vec<_> = held
        .parked()
        .await
        .into_iter()
        .map(|copy| copy.envelope)
        .collect();
    assert_eq!(parked, [full.envelope, bare.envelope]);
}

/// SUB-33
async fn copies_come_by_sequence_then_id(subject: Subject) {
    let (_lane, held, mut version) = held(&subject).await;
    // As text, 10 would come before 9.
    let order = [
        (-1, "m"),
        (0, "m"),
        (9, "A"),
        (9, "a"),
        (9, "b"),
        (10, "a"),
        (1 << 40, "a"),
    ];
    for at in [4, 0, 6, 2, 5, 1, 3] {
        let (sequence, id) = order[at];
        version = held.park(&copy(sequence, id), &counting(1), version).await;
    }
    assert_eq!(names(&held.parked().await), order);
    assert_eq!(names(&held.parked_up_to(3).await), order[..3]);
    assert_eq!(names(&held.parked_up_to(1).await), order[..1]);
}

/// SUB-35: a crash between copy and state parks the same copy again.
async fn the_same_copy_again_is_one_of_the_next_generation(subject: Subject) {
    let (_lane, held, version) = held(&subject).await;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let first = held.only_parked().await;
    let mut again = copy(0, "m-1");
    again.envelope.correlation_id = Some("again".to_owned());
    held.park(&again, &counting(1), version).await;
    let second = held.only_parked().await;
    assert_eq!((second.sequence, &second.id), (first.sequence, &first.id));
    assert!(second.generation > first.generation, "{first:?} {second:?}");
}

/// SUB-35
async fn a_copy_never_overwrites_one_with_another_id(subject: Subject) {
    let (_lane, held, mut version) = held(&subject).await;
    for id in ["m-1", "M-1", "m-1 "] {
        version = held.park(&copy(0, id), &counting(1), version).await;
    }
    assert_eq!(held.parked().await.len(), 3);
}

/// SUB-18
async fn unparking_removes_the_copy_and_keeps_the_state(subject: Subject) {
    let (_lane, held, version) = held(&subject).await;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let version = held.park(&copy(1, "m-2"), &counting(2), version).await;
    let first = held.parked_up_to(1).await.remove(0).reference;
    let unparked = held
        .store
        .unpark(&held.session, &first, &counting(3), version)
        .await;
    let raised = written(expect("unparking", unparked));
    assert!(raised > version);
    let read = held.read().await;
    assert_eq!((read.state, read.version), (counting(3), raised));
    assert_eq!(names(&held.parked().await), [(1, "m-2")]);
}

/// SUB-18: removing a copy can't remove a later one.
async fn unparking_an_old_generation_removes_nothing(subject: Subject) {
    let (_lane, held, version) = held(&subject).await;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let old = held.only_parked().await;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let unparked = held
        .store
        .unpark(&held.session, &old, &counting(3), version)
        .await;
    written(expect("unparking an old generation", unparked));
    assert_eq!(held.read().await.state, counting(3));
    assert_ne!(held.only_parked().await, old);
}

/// SUB-33
async fn unparking_what_is_gone_keeps_the_state(subject: Subject) {
    let (_lane, held, version) = held(&subject).await;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let gone = ParkedRef {
        sequence: 5,
        id: "m-1".to_owned(),
        generation: 0,
    };
    let unparked = held
        .store
        .unpark(&held.session, &gone, &counting(3), version)
        .await;
    written(expect("unparking what is gone", unparked));
    assert_eq!(held.read().await.state, counting(3));
    assert_eq!(names(&held.parked().await), [(0, "m-1")]);
}

/// SUB-08, SUB-35
async fn parking_at_an_old_version_counts_nothing(subject: Subject) {
    let (_lane, held, old) = held(&subject).await;
    let fenced = held.fence().await;
    let parked = held
        .store
        .park(&held.session, &copy(0, "m-1"), &counting(1), old)
        .await;
    assert_eq!(expect("parking late", parked), Cas::Conflict);
    assert_eq!(held.read().await, fenced);
    if held.store.capabilities().atomic {
        assert!(
            held.parked().await.is_empty(),
            "an atomic store kept a copy"
        );
    }
}

/// SUB-08, SUB-18
async fn unparking_at_an_old_version_removes_nothing(subject: Subject) {
    let (_lane, held, version) = held(&subject).await;
    let old = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let parked = held.only_parked().await;
    let fenced = held.fence().await;
    let unparked = held
        .store
        .unpark(&held.session, &parked, &counting(0), old)
        .await;
    assert_eq!(expect("unparking late", unparked), Cas::Conflict);
    assert_eq!(held.read().await, fenced);
    assert_eq!(held.only_parked().await, parked);
}

/// SUB-33
async fn sessions_have_copies_of_their_own(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (mut lanes, mut held) = (Vec::new(), Vec::new());
    for name in ["a", "A", "a "] {
        let (lane, session) = process.hold_session(&endpoint, name).await;
        let version = session.fence().await.version;
        assert!(session.parked().await.is_empty(), "{name:?}");
        session.park(&copy(0, name), &counting(1), version).await;
        lanes.push(lane);
        held.push((name, session));
    }
    for (name, session) in &held {
        assert_eq!(names(&session.parked().await), [(0, *name)]);
    }
}

/// SUB-08: its successor may still need the copy.
async fn a_late_holder_removes_no_copy(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let (late_lane, late) = process.hold_session(&endpoint, "s").await;
    let version = late.fence().await.version;
    let version = late.park(&copy(0, "m-1"), &counting(1), version).await;
    let parked = late.only_parked().await;
    process.pass(late_lane.outlasting()).await;
    let (_lane, successor) = other.hold_session(&endpoint, "s").await;
    let fenced = successor.fence().await;
    let unparked = late
        .store
        .unpark(&late.session, &parked, &counting(0), version)
        .await;
    expect_shut_out(&unparked);
    assert_eq!(successor.read().await, fenced);
    assert_eq!(successor.only_parked().await, parked);
}

/// SUB-35: copy first, then state.
async fn parking_dropped_at_any_await_counts_no_copy_that_is_not_there(subject: Subject) {
    let (_lane, held, mut version) = held(&subject).await;
    let atomic = held.store.capabilities().atomic;
    for polls in 0.. {
        let sequence = i64::try_from(polls).expect("few polls");
        let (parked, counted) = (copy(sequence, "m"), counting(sequence + 1));
        let call = held.store.park(&held.session, &parked, &counted, version);
        let answer = drop_after(polls, call).await;
        // The fence shuts out what may still be under way.
        let fenced = held.fence().await;
        version = fenced.version;
        let is_counted = fenced.state == counted;
        let is_parked = names(&held.parked().await).contains(&(sequence, "m"));
        assert!(is_parked || !is_counted, "dropped after {polls} polls");
        if atomic {
            assert_eq!(is_parked, is_counted, "dropped after {polls} polls");
        }
        if let Some(answer) = answer {
            written(expect("undisturbed parking", answer));
            assert!(is_counted);
            return;
        }
    }
}

/// SUB-18: state first, then removal.
async fn unparking_dropped_at_any_await_removes_no_copy_that_is_not_settled(subject: Subject) {
    let (_lane, held, mut version) = held(&subject).await;
    let atomic = held.store.capabilities().atomic;
    for polls in 0.. {
        let sequence = i64::try_from(polls).expect("few polls");
        let settled = counting(-1 - sequence);
        version = held.park(&copy(sequence, "m"), &counting(1), version).await;
        let parked = held.parked().await;
        let last = parked.last().expect("a copy was parked").reference.clone();
        let call = held.store.unpark(&held.session, &last, &settled, version);
        let answer = drop_after(polls, call).await;
        let fenced = held.fence().await;
        version = fenced.version;
        let is_settled = fenced.state == settled;
        let is_parked = names(&held.parked().await).contains(&(sequence, "m"));
        assert!(is_parked || is_settled, "dropped after {polls} polls");
        if atomic {
            assert_eq!(is_parked, !is_settled, "dropped after {polls} polls");
        }
        if let Some(answer) = answer {
            written(expect("undisturbed unparking", answer));
            assert!(!is_parked);
            return;
        }
    }
}
