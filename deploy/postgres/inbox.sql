-- Written by `cargo xtask ddl`: change the code, not this file.

-- Records of the consumer inbox, version 1.
create schema if not exists "nimbus";

-- identity_hash: SHA-256 over the endpoint and the message id, which every provider keys on.
-- endpoint_id: compared byte by byte by the purge. message_id: for people and tools.
-- In both, a backslash is written \\ and a NUL, which text can't hold, \0.
-- created_at: by the server's clock.
create table if not exists "nimbus"."inbox_messages" (
    identity_hash bytea not null primary key check (octet_length(identity_hash) = 32),
    endpoint_id text collate "C" not null,
    message_id text collate "C" not null,
    created_at timestamptz not null default now()
);

create index if not exists "inbox_messages_created_at" on "nimbus"."inbox_messages" (endpoint_id, created_at);
