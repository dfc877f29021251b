//! The statements that run for each message stay fast with very many lanes and messages.

use nimbus_sqlite::rusqlite::{Connection, StatementStatus};

use super::accept::{FIND_OLDEST_FREE, FORGET_EXPIRED_EMPTY, FREE_EXPIRED};
use super::enqueue::{FIND_LANE, NEXT_IN_LINE};
use super::outlook::QUEUE_OUTLOOK;
use super::scheduled::FIND_DUE;

const NOW: i64 = 1_000_000;

fn empty() -> Connection {
    let db = Connection::open_in_memory().expect("memory");
    db.execute_batch(&crate::ddl()).expect("our own tables");
    db
}

/// `locked` sessions that somebody holds, all older than the `free` ones, and their messages.
fn queue_with(locked: i64, free: i64) -> Connection {
    let db = empty();
    db.execute_batch(&format!(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < {total})
         insert into nimbus_queue_lane
             (queue, session, head, head_due_at, lock_token, locked_until)
         select 1, 'session ' || i, i, i,
                iif(i <= {locked}, randomblob(16), null),
                iif(i <= {locked}, {NOW} + i, null)
         from n;
         insert into nimbus_queue_message (queue, lane, state, enqueued_at, properties, body)
         select 1, lane, 'ready', head, '{{}}', x'' from nimbus_queue_lane;",
        total = locked + free,
    ))
    .expect("our own tables");
    db
}

/// How many steps of SQLite's machine the statement takes.
fn steps(db: &Connection, sql: &str) -> i32 {
    let mut statement = db.prepare(sql).expect("our own statement");
    for index in 1..=statement.parameter_count() {
        let name = statement.parameter_name(index).map(str::to_owned);
        let value = match name.as_deref() {
            Some("?2") => NOW,
            Some("?3") => 256,
            _ => 1,
        };
        statement
            .raw_bind_parameter(index, value)
            .expect("a number");
    }
    let mut rows = statement.raw_query();
    while rows.next().expect("our own statement").is_some() {}
    drop(rows);
    statement.get_status(StatementStatus::VmStep)
}

#[test]
fn hot_statements_search_an_index_and_sort_nothing() {
    let db = empty();
    for sql in [
        FORGET_EXPIRED_EMPTY,
        FREE_EXPIRED,
        FIND_OLDEST_FREE,
        FIND_LANE,
        NEXT_IN_LINE,
        FIND_DUE,
        QUEUE_OUTLOOK,
    ] {
        let mut plan = db
            .prepare(&format!("explain query plan {sql}"))
            .expect("our own statement");
        let lines: Vec<String> = plan
            .raw_query()
            .mapped(|row| row.get("detail"))
            .collect::<Result<_, _>>()
            .expect("a plan");
        assert!(
            lines.iter().any(|line| line.contains("USING")),
            "{sql}\n{lines:#?}"
        );
        for line in &lines {
            assert!(!line.contains("TEMP B-TREE"), "{sql}\n{lines:#?}");
            // Of tables and indexes; the rows of a subquery are few.
            assert!(!line.contains("SCAN nimbus"), "{sql}\n{lines:#?}");
        }
    }
}

#[test]
fn accepting_costs_the_same_with_a_hundred_thousand_locked_sessions() {
    let (small, large) = (queue_with(10, 10), queue_with(100_000, 10));
    for sql in [
        FORGET_EXPIRED_EMPTY,
        FREE_EXPIRED,
        FIND_OLDEST_FREE,
        QUEUE_OUTLOOK,
    ] {
        assert_eq!(steps(&small, sql), steps(&large, sql), "{sql}");
    }
}

#[test]
fn accepting_and_sending_cost_the_same_with_a_hundred_thousand_free_sessions() {
    let (small, large) = (queue_with(0, 10), queue_with(0, 100_000));
    for sql in [FIND_OLDEST_FREE, FIND_LANE, NEXT_IN_LINE, QUEUE_OUTLOOK] {
        assert_eq!(steps(&small, sql), steps(&large, sql), "{sql}");
    }
}
