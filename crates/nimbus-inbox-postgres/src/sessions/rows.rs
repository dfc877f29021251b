//! The statements. Each is one, so that a copy and the state that counts it change together.

use nimbus_messaging::{ParkedRef, StateVersion};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

use crate::text::{original, stored};

/// One session of one endpoint, as the rows name it.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) endpoint: String,
    pub(super) id: String,
}

impl Session {
    pub(super) fn new(endpoint: &str, id: &str) -> Self {
        Self {
            endpoint: stored(endpoint).into_owned(),
            id: stored(id).into_owned(),
        }
    }
}

/// A version and the JSON it stands for: version 0 and nothing for a fresh session.
pub(super) type StoredState = (i64, String);

/// A copy as it stands in its row.
#[derive(Debug)]
pub(super) struct StoredCopy {
    pub(super) reference: ParkedRef,
    pub(super) envelope: String,
    pub(super) body: Vec<u8>,
}

type Parameter<'v> = (&'v (dyn ToSql + Sync), Type);

/// The statements on one schema's tables.
#[derive(Debug)]
pub(super) struct Rows {
    read: String,
    fence: String,
    write_first: String,
    write: String,
    park_first: String,
    park: String,
    unpark_first: String,
    unpark: String,
    list: String,
}

impl Rows {
    pub(super) fn new(schema: &str) -> Self {
        let states = format!("\"{schema}\".session_states");
        let parked = format!("\"{schema}\".session_parked");
        // Version 0 is that of a session without a row, which nobody may have made meanwhile.
        let first = format!(
            "insert into {states} (endpoint_id, session_id, version, state)
             select $1, $2, $3 + 1, $4 where $3 = 0
             on conflict do nothing returning version"
        );
        // Of two that expect one version, the second waits for the first and then finds another.
        let next = format!(
            "update {states} set version = version + 1, state = $4
             where endpoint_id = $1 and session_id = $2 and version = $3 returning version"
        );
        let keep = format!(
            "insert into {parked} as kept
                 (endpoint_id, session_id, sequence, copy_id, generation, envelope, body)
             select $1, $2, $5, $6, 0, $7, $8 from written
             on conflict (endpoint_id, session_id, sequence, copy_id) do update
             set generation = kept.generation + 1, envelope = excluded.envelope,
                 body = excluded.body"
        );
        let remove = format!(
            "delete from {parked} using written
             where endpoint_id = $1 and session_id = $2 and sequence = $5 and copy_id = $6
               and generation = $7"
        );
        let together = |write: &str, then: &str| {
            format!("with written as ({write}), changed as ({then}) select version from written")
        };
        Self {
            read: format!(
                "select version, state from {states} where endpoint_id = $1 and session_id = $2"
            ),
            fence: format!(
                "insert into {states} as known (endpoint_id, session_id, version, state)
                 values ($1, $2, 1, '')
                 on conflict (endpoint_id, session_id) do update set version = known.version + 1
                 returning version, state"
            ),
            park_first: together(&first, &keep),
            park: together(&next, &keep),
            unpark_first: together(&first, &remove),
            unpark: together(&next, &remove),
            write_first: first,
            write: next,
            list: format!(
                "select sequence, copy_id, generation, envelope, body from {parked}
                 where endpoint_id = $1 and session_id = $2 order by sequence, copy_id limit $3"
            ),
        }
    }

    pub(super) async fn read(
        &self,
        client: &Client,
        session: &Session,
    ) -> Result<StoredState, Error> {
        let found = client.query_typed_opt(&self.read, &names(session)).await?;
        found.map_or_else(|| Ok(StoredState::default()), |row| state(&row))
    }

    /// Raises the version.
    pub(super) async fn fence(
        &self,
        client: &Client,
        session: &Session,
    ) -> Result<StoredState, Error> {
        let row = client.query_typed_one(&self.fence, &names(session)).await?;
        state(&row)
    }

    /// Replaces the state if its version is still `expected`; the new version, or none.
    pub(super) async fn write(
        &self,
        client: &Client,
        session: &Session,
        json: &str,
        expected: StateVersion,
    ) -> Result<Option<StateVersion>, Error> {
        let statement = of(expected, &self.write_first, &self.write);
        version(client, statement, &change(session, &(json, expected))).await
    }

    /// As [`write`](Self::write), and keeps a copy; the same sequence and id again keeps one and
    /// raises its generation.
    pub(super) async fn park(
        &self,
        client: &Client,
        session: &Session,
        state: (&str, StateVersion),
        copy: &StoredCopy,
    ) -> Result<Option<StateVersion>, Error> {
        let statement = of(state.1, &self.park_first, &self.park);
        let id = stored(&copy.reference.id);
        let mut parameters = change(session, &state);
        parameters.extend::<[Parameter<'_>; 4]>([
            (&copy.reference.sequence, Type::INT8),
            (&id, Type::TEXT),
            (&copy.envelope, Type::TEXT),
            (&copy.body, Type::BYTEA),
        ]);
        version(client, statement, &parameters).await
    }

    /// As [`write`](Self::write), and removes a copy if it is still of that generation (SUB-18).
    pub(super) async fn unpark(
        &self,
        client: &Client,
        session: &Session,
        state: (&str, StateVersion),
        copy: &ParkedRef,
    ) -> Result<Option<StateVersion>, Error> {
        let statement = of(state.1, &self.unpark_first, &self.unpark);
        let (id, generation) = (stored(&copy.id), i64::from(copy.generation));
        let mut parameters = change(session, &state);
        parameters.extend::<[Parameter<'_>; 3]>([
            (&copy.sequence, Type::INT8),
            (&id, Type::TEXT),
            (&generation, Type::INT8),
        ]);
        version(client, statement, &parameters).await
    }

    /// The first copies, ordered by sequence, then id.
    pub(super) async fn list(
        &self,
        client: &Client,
        session: &Session,
        limit: u32,
    ) -> Result<Vec<StoredCopy>, Error> {
        let limit = i64::from(limit);
        let mut parameters = names(session).to_vec();
        parameters.push((&limit, Type::INT8));
        let rows = client.query_typed(&self.list, &parameters).await?;
        rows.iter().map(copy).collect()
    }
}

fn of<'s>(expected: StateVersion, first: &'s str, next: &'s str) -> &'s str {
    if expected == StateVersion(0) {
        first
    } else {
        next
    }
}

fn names(session: &Session) -> [Parameter<'_>; 2] {
    [(&session.endpoint, Type::TEXT), (&session.id, Type::TEXT)]
}

fn change<'v>(
    session: &'v Session,
    (json, version): &'v (&'v str, StateVersion),
) -> Vec<Parameter<'v>> {
    let mut parameters = names(session).to_vec();
    parameters.extend([(&version.0 as _, Type::INT8), (json as _, Type::TEXT)]);
    parameters
}

async fn version(
    client: &Client,
    statement: &str,
    parameters: &[Parameter<'_>],
) -> Result<Option<StateVersion>, Error> {
    let written = client.query_typed_opt(statement, parameters).await?;
    written
        .map(|row| row.try_get(0).map(StateVersion))
        .transpose()
}

fn state(row: &Row) -> Result<StoredState, Error> {
    Ok((row.try_get(0)?, row.try_get(1)?))
}

fn copy(row: &Row) -> Result<StoredCopy, Error> {
    Ok(StoredCopy {
        reference: ParkedRef {
            sequence: row.try_get(0)?,
            id: original(row.try_get(1)?).into_owned(),
            generation: u32::try_from(row.try_get::<_, i64>(2)?).unwrap_or(u32::MAX),
        },
        envelope: row.try_get(3)?,
        body: row.try_get(4)?,
    })
}
