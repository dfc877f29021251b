-- Written by `cargo xtask ddl`: change the code, not this file.

-- Records of the consumer inbox, version 1.
-- identity_hash: SHA-256 over the endpoint and the message id, which every provider keys on.
-- endpoint_id: compared byte by byte by the purge. message_id: for people and tools.
-- created_at: 100-nanosecond ticks since the Unix epoch, in UTC.
create table if not exists "nimbus_inbox" (
    identity_hash blob not null primary key check (length(identity_hash) = 32),
    endpoint_id text not null,
    message_id text not null,
    created_at integer not null
) strict, without rowid;

create index if not exists "nimbus_inbox_created_at" on "nimbus_inbox" (endpoint_id, created_at);
