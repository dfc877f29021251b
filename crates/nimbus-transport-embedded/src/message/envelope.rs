use bytes::Bytes;
use nimbus_messaging::{Envelope, Properties};
use nimbus_sqlite::rusqlite::types::Type;
use nimbus_sqlite::rusqlite::{self, Row, ToSql};

use super::properties;

/// The columns that hold an envelope, in the order in which [`read_envelope`] takes them.
pub(crate) const COLUMNS: &str = "message_id, session_id, correlation_id, reply_to, \
     reply_to_session_id, content_type, properties, body";

/// The parameters that [`StoredEnvelope::bind`] gives, in the same order.
pub(crate) const PLACEHOLDERS: &str = ":message_id, :session_id, :correlation_id, :reply_to, \
     :reply_to_session_id, :content_type, :properties, :body";

/// An envelope, made ready for a table outside the writer's thread.
#[derive(Debug)]
pub(crate) struct StoredEnvelope {
    envelope: Envelope,
    properties: String,
    body: Body,
}

/// The driver binds slices, not `Bytes`.
#[derive(Debug)]
struct Body(Bytes);

impl ToSql for Body {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::from(&*self.0))
    }
}

impl StoredEnvelope {
    pub(crate) fn new(envelope: Envelope) -> Self {
        Self {
            properties: properties::encode(&envelope.properties),
            body: Body(envelope.body.clone()),
            envelope,
        }
    }

    pub(crate) fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// The session whose line the message joins. An empty name is none.
    pub(crate) fn session(&self) -> Option<&str> {
        self.envelope
            .session_id
            .as_deref()
            .filter(|session| !session.is_empty())
    }

    /// Bytes it takes in the file, near enough.
    pub(crate) fn size(&self) -> usize {
        let envelope = &self.envelope;
        let fields: usize = [
            &envelope.message_id,
            &envelope.session_id,
            &envelope.correlation_id,
            &envelope.reply_to,
            &envelope.reply_to_session_id,
            &envelope.content_type,
        ]
        .into_iter()
        .flatten()
        .map(String::len)
        .sum();
        fields + self.properties.len() + envelope.body.len()
    }

    /// Values for [`PLACEHOLDERS`], after those in `own`.
    pub(crate) fn bind<'a>(
        &'a self,
        own: &[(&'static str, &'a dyn ToSql)],
    ) -> Vec<(&'static str, &'a dyn ToSql)> {
        let mut values = own.to_vec();
        values.extend([
            (":message_id", &self.envelope.message_id as &dyn ToSql),
            (":session_id", &self.envelope.session_id),
            (":correlation_id", &self.envelope.correlation_id),
            (":reply_to", &self.envelope.reply_to),
            (":reply_to_session_id", &self.envelope.reply_to_session_id),
            (":content_type", &self.envelope.content_type),
            (":properties", &self.properties),
            (":body", &self.body),
        ]);
        values
    }
}

/// Reads the [`COLUMNS`] that start at index `first`.
pub(crate) fn read_envelope(row: &Row<'_>, first: usize) -> rusqlite::Result<Envelope> {
    let decoded = properties::decode(row.get_ref(first + 6)?.as_str()?);
    let properties = decoded.map_err(|problem| {
        rusqlite::Error::FromSqlConversionFailure(first + 6, Type::Text, Box::new(problem))
    })?;
    with_properties(row, first, properties)
}

/// As [`read_envelope`], without the properties where those can't be read.
pub(crate) fn read_damaged_envelope(row: &Row<'_>, first: usize) -> rusqlite::Result<Envelope> {
    let decoded = properties::decode(row.get_ref(first + 6)?.as_str()?);
    with_properties(row, first, decoded.unwrap_or_default())
}

fn with_properties(
    row: &Row<'_>,
    first: usize,
    properties: Properties,
) -> rusqlite::Result<Envelope> {
    Ok(Envelope {
        message_id: row.get(first)?,
        session_id: row.get(first + 1)?,
        correlation_id: row.get(first + 2)?,
        reply_to: row.get(first + 3)?,
        reply_to_session_id: row.get(first + 4)?,
        content_type: row.get(first + 5)?,
        properties,
        body: Bytes::from(row.get::<_, Vec<u8>>(first + 7)?),
    })
}
