-- Written by `cargo xtask ddl`: change the code, not this file.

-- Tables of the embedded transport, version 1.
-- Instants are 100-nanosecond ticks since the Unix epoch, in UTC.

-- Where one endpoint, or one well-known receiver, gets its messages.
-- `key` is the name in lower-case ASCII: addresses are compared without case.
create table if not exists nimbus_queue (
    queue integer primary key,
    key text not null unique,
    name text not null
) strict;

insert or ignore into nimbus_queue (key, name) values ('resolver', 'Resolver'), ('manager', 'Manager');

create table if not exists nimbus_queue_topic (
    topic integer primary key,
    key text not null unique,
    name text not null
) strict;

-- `event_types` is a JSON array; null takes every event.
create table if not exists nimbus_queue_subscription (
    topic integer not null references nimbus_queue_topic,
    queue integer not null references nimbus_queue,
    event_types text,
    primary key (topic, queue)
) strict, without rowid;

-- One line of messages that is received in order by one holder at a time: a session, or a single
-- message that has none. All that changes while a message waits is kept here, so that the row
-- with its body is written once.
create table if not exists nimbus_queue_lane (
    lane integer primary key,
    queue integer not null references nimbus_queue,
    session text,
    head integer,
    head_due_at integer,
    head_delivery_count integer not null default 0,
    head_taken integer not null default 0,
    lock_token blob,
    locked_until integer,
    check ((head is null) = (head_due_at is null)),
    check ((lock_token is null) = (locked_until is null))
) strict;

create unique index if not exists nimbus_queue_lane_session
    on nimbus_queue_lane (queue, session) where session is not null;

create index if not exists nimbus_queue_lane_free
    on nimbus_queue_lane (queue, head_due_at, head) where locked_until is null;

create index if not exists nimbus_queue_lane_locked
    on nimbus_queue_lane (queue, locked_until) where locked_until is not null;

-- `lane` is set while a message stands in line. A scheduled message gets a new sequence number
-- when it is due; `schedule` names it, and its copies for several subscriptions, until then.
-- `taken_by` is the lock token under which a deferred message was received.
create table if not exists nimbus_queue_message (
    sequence integer primary key autoincrement,
    queue integer not null references nimbus_queue,
    lane integer,
    state text not null check (state in ('ready', 'scheduled', 'deferred', 'dead')),
    enqueued_at integer not null,
    due_at integer,
    schedule integer,
    delivery_count integer not null default 0,
    taken_by blob,
    dead_at integer,
    dead_reason text,
    dead_description text,
    message_id text,
    session_id text,
    correlation_id text,
    reply_to text,
    reply_to_session_id text,
    content_type text,
    properties text not null,
    body blob not null
) strict;

create index if not exists nimbus_queue_message_line
    on nimbus_queue_message (lane, sequence) where lane is not null;

create index if not exists nimbus_queue_message_scheduled
    on nimbus_queue_message (queue, due_at, sequence) where state = 'scheduled';

create index if not exists nimbus_queue_message_schedule
    on nimbus_queue_message (schedule) where schedule is not null;

create index if not exists nimbus_queue_message_aside
    on nimbus_queue_message (queue, state, sequence) where state in ('deferred', 'dead');

create table if not exists nimbus_queue_session (
    queue integer not null references nimbus_queue,
    session text not null,
    version integer not null,
    state text not null,
    primary key (queue, session)
) strict, without rowid;

create table if not exists nimbus_queue_parked (
    parked integer primary key,
    queue integer not null references nimbus_queue,
    session text not null,
    sequence integer not null,
    id text not null,
    generation integer not null default 0,
    message_id text,
    session_id text,
    correlation_id text,
    reply_to text,
    reply_to_session_id text,
    content_type text,
    properties text not null,
    body blob not null,
    unique (queue, session, sequence, id)
) strict;
