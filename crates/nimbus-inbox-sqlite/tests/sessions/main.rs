//! The session store: versions, parked copies, and what happens when two receivers meet.

mod parked;
mod support;
mod tables;
mod versions;
