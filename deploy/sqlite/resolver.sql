-- Written by `cargo xtask ddl`: change the code, not this file.

-- Tables of the resolver, version 1.
-- Instants are 100-nanosecond ticks since the Unix epoch, in UTC.

-- One row for each event of each endpoint. The keys are in lower-case ASCII where case doesn't
-- count. `state_since` is when the report was sent that led to the state, and `state_entry` is that
-- report; `last_occurred` is the latest of all. `event_json` is the event itself, as JSON.
create table if not exists nimbus_resolver_event (
    event integer primary key,
    endpoint_key text not null,
    event_key text not null,
    endpoint text not null,
    event_id text,
    message_id text,
    state text not null,
    state_since integer not null,
    state_entry integer not null,
    last_occurred integer not null,
    event_type text,
    session_id text,
    correlation_id text,
    originating_message_id text,
    originating_from text,
    cloud_event_id text,
    cloud_event_source text,
    cloud_event_type text,
    cloud_event_subject text,
    retry_count integer,
    content_type_id text,
    event_json text,
    reports integer not null,
    duplicates integer not null,
    first_seen integer not null,
    last_seen integer not null,
    unique (endpoint_key, event_key)
) strict;

create index if not exists nimbus_resolver_event_seen
    on nimbus_resolver_event (last_seen, event);

create index if not exists nimbus_resolver_event_state
    on nimbus_resolver_event (endpoint_key, state, last_seen);

create index if not exists nimbus_resolver_event_session
    on nimbus_resolver_event (session_id) where session_id is not null;

create index if not exists nimbus_resolver_event_message
    on nimbus_resolver_event (message_id) where message_id is not null;

-- Every report about an event, in the order of arrival. A report that comes again has a message id
-- that the event has already.
create table if not exists nimbus_resolver_report (
    entry integer primary key autoincrement,
    event integer not null references nimbus_resolver_event,
    message_id text not null,
    kind text not null,
    cause text not null,
    occurred_at integer not null,
    began_at integer not null,
    received_at integer not null,
    parent_message_id text,
    inbox_message_id text,
    retry_count integer,
    queue_time_ms integer,
    processing_time_ms integer,
    error_type text,
    error_text text,
    dead_letter_reason text,
    dead_letter_description text,
    handoff_reason text,
    external_job_id text,
    expected_by integer,
    next_retry_at integer,
    unique (event, message_id)
) strict;

create index if not exists nimbus_resolver_report_parent
    on nimbus_resolver_report (parent_message_id) where parent_message_id is not null;

create index if not exists nimbus_resolver_report_source
    on nimbus_resolver_report (inbox_message_id) where inbox_message_id is not null;
