-- Written by `cargo xtask ddl`: change the code, not this file.

-- Sessions of transports that keep no session state of their own, version 1.
create schema if not exists "nimbus";

-- In all ids, a backslash is written \\ and a NUL, which text can't hold, \0.
-- version: raised by every fence and every write, never lowered.
create table if not exists "nimbus".session_states (
    endpoint_id text collate "C" not null,
    session_id text collate "C" not null,
    version bigint not null,
    state text not null,
    primary key (endpoint_id, session_id)
);

-- Copies set aside while their session is blocked, handled in the order of sequence and copy_id.
-- envelope: everything but the body, as JSON.
create table if not exists "nimbus".session_parked (
    endpoint_id text collate "C" not null,
    session_id text collate "C" not null,
    sequence bigint not null,
    copy_id text collate "C" not null,
    generation bigint not null,
    envelope text not null,
    body bytea not null,
    primary key (endpoint_id, session_id, sequence, copy_id)
);
