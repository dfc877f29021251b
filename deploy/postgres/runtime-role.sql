-- Written by `cargo xtask ddl`: change the code, not this file.

-- What the role of a service needs, after the other scripts. Tables and role belong to others:
-- create the role first, e.g. `create role nimbus_runtime login`, and run each part whose tables
-- are there.

-- The inbox.
grant usage on schema "nimbus" to "nimbus_runtime";
grant select, insert, delete, update (message_id) on "nimbus"."inbox_messages" to "nimbus_runtime";

-- The session store.
grant usage on schema "nimbus" to "nimbus_runtime";
grant select, insert, update on "nimbus".session_states to "nimbus_runtime";
grant select, insert, update, delete on "nimbus".session_parked to "nimbus_runtime";
