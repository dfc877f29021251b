use super::*;

const README: &str = include_str!("../../README.md");

/// The cells of the README's table: report, state before, cell.
fn cells() -> Vec<(ReportKind, Option<EventState>, String)> {
    let mut lines = README.lines();
    let head = lines
        .find(|line| line.starts_with("| report \\ state |"))
        .expect("the table");
    let columns: Vec<Vec<Option<EventState>>> = row(head)
        .skip(1)
        .map(|names| match names {
            "nothing" => vec![None],
            names => names
                .split(", ")
                .map(|name| Some(EventState::from_name(name).expect(name)))
                .collect(),
        })
        .collect();
    let body = lines.skip(1).take_while(|line| line.starts_with('|'));
    body.flat_map(|line| {
        let mut cells = row(line);
        let kind = cells.next().and_then(ReportKind::from_name).expect(line);
        let cells: Vec<&str> = cells.collect();
        assert_eq!(cells.len(), columns.len(), "{line}");
        let columns = columns.clone();
        cells
            .into_iter()
            .zip(columns)
            .flat_map(move |(cell, states)| {
                states
                    .into_iter()
                    .map(move |state| (kind, state, cell.to_owned()))
            })
            .collect::<Vec<_>>()
    })
    .collect()
}

fn row(line: &str) -> impl Iterator<Item = &str> {
    line.trim_matches('|').split('|').map(str::trim)
}

/// What a cell says, clause by clause: `STATE`, `STATE if CONDITION and CONDITION`, `, else …`.
fn says(cell: &str, report: Move) -> Option<EventState> {
    for clause in cell.split(", else ") {
        let (target, condition) = clause.split_once(" if ").unwrap_or((clause, ""));
        let mut conditions = condition.split(" and ").filter(|part| !part.is_empty());
        if conditions.all(|condition| holds(condition, report)) {
            return (target != "·").then(|| EventState::from_name(target).expect(target));
        }
    }
    None
}

fn holds(condition: &str, report: Move) -> bool {
    let among = |causes: &str| {
        causes
            .split(" or ")
            .any(|cause| Cause::from_name(cause) == report.cause && cause != "unknown")
    };
    match condition {
        "newer" => report.newer,
        "attempted" => report.attempted,
        other => match (other.strip_prefix("by "), other.strip_prefix("not by ")) {
            (Some(causes), _) => among(causes),
            (_, Some(causes)) => !among(causes),
            _ => panic!("{other:?} is no condition"),
        },
    }
}

fn moves() -> impl Iterator<Item = (Cause, bool, bool)> {
    let causes = Cause::ALL.iter().copied();
    let newer = causes.flat_map(|cause| [(cause, false), (cause, true)]);
    newer.flat_map(|(cause, newer)| [(cause, newer, false), (cause, newer, true)])
}

/// SUB-11, SUB-13, SUB-15, SUB-24: every report moves every state as the documented table says,
/// whatever it is about and whenever it began.
#[test]
fn every_transition_is_the_documented_one() {
    let cells = cells();
    let states = EventState::ALL.len() + 1;
    assert_eq!(cells.len(), ReportKind::ALL.len() * states);
    let mut compared = 0;
    for (kind, state, cell) in cells {
        for (cause, newer, attempted) in moves() {
            let report = Move {
                kind,
                cause,
                newer,
                attempted,
            };
            assert_eq!(
                next(state, report),
                says(&cell, report),
                "{report:?} in {state:?}, documented as {cell:?}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, ReportKind::ALL.len() * states * 20);
}

/// SUB-24: the report of a duplicate never moves an event that was completed, given up, or failed
/// on an attempt of another message.
#[test]
fn a_duplicate_undoes_and_hides_nothing() {
    for state in EventState::ALL.iter().copied() {
        for (cause, newer, attempted) in moves() {
            let report = Move {
                kind: Kind::Duplicate,
                cause,
                newer,
                attempted,
            };
            let moved = next(Some(state), report);
            let settled = matches!(state, State::Completed | State::Skipped | State::Discarded);
            assert!(!settled || moved.is_none(), "{state:?} {report:?}");
            let waits = matches!(state, State::Pending | State::Deferred);
            let hides = moved == Some(State::Duplicate) && !waits && !attempted;
            assert!(!hides, "{state:?} {report:?}");
        }
    }
}

/// SUB-11, SUB-15: the answer to a late retry or a late command never makes a skipped event
/// completed, whenever it comes.
#[test]
fn a_late_answer_does_not_complete_what_was_skipped() {
    for cause in [Cause::Retry, Cause::Command, Cause::Unknown] {
        for newer in [false, true] {
            let kind = Kind::Completed;
            let report = Move {
                kind,
                cause,
                newer,
                attempted: false,
            };
            assert_eq!(next(Some(State::Skipped), report), None, "{report:?}");
        }
    }
}
