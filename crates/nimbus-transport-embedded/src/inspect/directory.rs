use std::num::NonZeroU32;

use async_trait::async_trait;
use nimbus_messaging::{
    Address, ParkedCopy, SessionDirectory, SessionId, SessionOverview, SessionState, TransportError,
};
use nimbus_sqlite::rusqlite::{self, Connection, Row};

use super::Inspector;
use crate::address::QueueId;

/// The sessions of one endpoint.
#[derive(Debug)]
pub(crate) struct EmbeddedDirectory {
    inspector: Inspector,
    endpoint: Address,
}

impl EmbeddedDirectory {
    pub(crate) fn new(inspector: Inspector, endpoint: &str) -> Self {
        Self {
            inspector,
            endpoint: Address::new(endpoint),
        }
    }
}

#[async_trait]
impl SessionDirectory for EmbeddedDirectory {
    async fn list(
        &self,
        after: Option<&SessionId>,
        limit: NonZeroU32,
    ) -> Result<Vec<SessionOverview>, TransportError> {
        let queue = self.inspector.find(&self.endpoint).await?;
        let after = after.map(|session| session.as_str().to_owned());
        self.inspector
            .shared
            .read("listing sessions", move |tx| {
                list(tx, queue, after.as_deref(), limit.get())
            })
            .await
    }

    async fn look(&self, session: &SessionId) -> Result<SessionOverview, TransportError> {
        let queue = self.inspector.find(&self.endpoint).await?;
        let session = session.clone();
        self.inspector
            .shared
            .read("looking at a session", move |tx| look(tx, queue, &session))
            .await
    }

    async fn parked(
        &self,
        session: &SessionId,
        limit: NonZeroU32,
    ) -> Result<Vec<ParkedCopy>, TransportError> {
        let endpoint = self.endpoint.clone();
        self.inspector.parked(endpoint, session, limit.get()).await
    }
}

/// A state that can't be read, or was never written, is no JSON.
const LIST: &str = "select session, state,
        (select count(*) from nimbus_queue_parked as parked
         where parked.queue = nimbus_queue_session.queue
           and parked.session = nimbus_queue_session.session) as copies
    from nimbus_queue_session
    where queue = ?1 and (?2 is null or session > ?2) and (copies > 0 or case
        when state = '' then false
        when not json_valid(state) then true
        else coalesce(json_extract(state, '$.BlockedByEventId'), '') <> ''
            or coalesce(json_extract(state, '$.DeferredCount'), 0) > 0
            or coalesce(json_array_length(state, '$.DeferredSequenceNumbers'), 0) > 0
            or json_extract(state, '$.InFlightSequenceNumber') is not null
        end)
    order by session limit ?3";

fn list(
    db: &Connection,
    queue: QueueId,
    after: Option<&str>,
    limit: u32,
) -> rusqlite::Result<Vec<SessionOverview>> {
    db.prepare_cached(LIST)?
        .query_map((queue.0, after, limit), overview)?
        // No session has the empty name.
        .filter_map(Result::transpose)
        .collect()
}

fn look(db: &Connection, queue: QueueId, session: &SessionId) -> rusqlite::Result<SessionOverview> {
    let (_, json) = crate::sessions::stored_state(db, queue, session)?;
    let parked: i64 = db
        .prepare_cached(
            "select count(*) from nimbus_queue_parked where queue = ?1 and session = ?2",
        )?
        .query_row((queue.0, session.as_str()), |row| row.get(0))?;
    Ok(SessionOverview {
        id: session.clone(),
        state: SessionState::from_json(json.as_bytes()).ok(),
        parked: parked.unsigned_abs(),
    })
}

fn overview(row: &Row<'_>) -> rusqlite::Result<Option<SessionOverview>> {
    let (name, json): (String, String) = (row.get(0)?, row.get(1)?);
    let parked: i64 = row.get(2)?;
    Ok(SessionId::new(name).map(|id| SessionOverview {
        id,
        state: SessionState::from_json(json.as_bytes()).ok(),
        parked: parked.unsigned_abs(),
    }))
}
