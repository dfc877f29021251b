use nimbus_inbox_core::{CompletionKeys, DuplicateWhen, InboxKey, Timestamp};

use super::success::Record;
use super::{Interruption, Received, Services};
use crate::handler::{Claiming, routing};
use crate::lifecycle::{DuplicateDetected, Signal};
use crate::responder::Outcome;

/// The keys of one message; empty without an inbox.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    /// The message's own id, if it is usable.
    own: Option<InboxKey>,
    /// The source id that a stand-in carries, if it is usable (SUB-34).
    source: Option<InboxKey>,
    /// The source id of the block that a resubmission resolves, as the session's state has it.
    resolves: Option<String>,
    counts: DuplicateWhen,
}

impl Identity {
    /// What a claim in the handler's own transaction goes by (SUB-39).
    pub(super) fn claiming(&self, admitted: bool) -> Claiming {
        Claiming {
            duplicate: self.counts,
            resolves: self.resolves.clone(),
            admitted,
        }
    }
}

/// Proof that a message's work was recorded before.
#[derive(Debug)]
pub(super) enum Duplicate {
    /// The check found the record.
    Checked {
        key: InboxKey,
        first_recorded: Timestamp,
    },
    /// The claim in the handler's own transaction did, and has counted and logged it.
    Claimed,
}

impl Services {
    /// The keys of a message, and which record makes it a duplicate: a parked copy is one also by
    /// its source, a retry is not (INB-18). A message that can't be deduplicated is warned about
    /// and goes on (INB-03).
    pub(super) fn identify(&self, message: &Received, counts: DuplicateWhen) -> Identity {
        let headers = &message.headers;
        let inbox = self.inbox.as_ref();
        Identity {
            own: inbox.and_then(|inbox| inbox.admit(headers.message_id.as_deref()).key().cloned()),
            source: self.usable_key(headers.inbox_message_id.as_deref()),
            resolves: None,
            counts,
        }
    }

    /// The same message, whose success also completes the one with this id (INB-17).
    pub(super) fn resolving(&self, identity: Identity, source: Option<String>) -> Identity {
        Identity {
            source: self.usable_key(source.as_deref()),
            resolves: source,
            ..identity
        }
    }

    fn usable_key(&self, id: Option<&str>) -> Option<InboxKey> {
        let (inbox, id) = (self.inbox.as_ref()?, id?);
        inbox.key(Some(id)).ok()
    }

    /// Looks for the message's own id, and for its source id where that counts.
    pub(super) async fn find_duplicate(
        &self,
        identity: &Identity,
    ) -> Result<Option<Duplicate>, Interruption> {
        let Some(inbox) = &self.inbox else {
            return Ok(None);
        };
        let by_source = identity.counts == DuplicateWhen::AnyRecorded;
        let source = identity.source.iter().filter(|_| by_source);
        let keys: Vec<InboxKey> = identity.own.iter().chain(source).cloned().collect();
        let found = inbox.check_any(&keys).await?;
        Ok(found.map(|(key, first_recorded)| Duplicate::Checked {
            key: key.clone(),
            first_recorded,
        }))
    }

    /// Tells everyone that a message is skipped (INB-09).
    pub(super) async fn report_duplicate(
        &self,
        message: &Received,
        duplicate: &Duplicate,
    ) -> Result<(), Interruption> {
        let headers = &message.headers;
        let first_recorded = match duplicate {
            Duplicate::Checked {
                key,
                first_recorded,
            } => {
                if let Some(inbox) = &self.inbox {
                    inbox.duplicate_detected(key, Some(*first_recorded), &routing(headers));
                }
                Some(*first_recorded)
            }
            Duplicate::Claimed => None,
        };
        self.lifecycle
            .tell(Signal::DuplicateDetected(DuplicateDetected {
                endpoint: &self.endpoint,
                headers,
                first_recorded,
            }))
            .await;
        self.responder
            .send(message.about(), Outcome::Duplicate)
            .await?;
        self.tally.duplicate();
        Ok(())
    }

    /// Records a success: the source first, then the message's own id (INB-15). One that the
    /// handler's own transaction has recorded is not recorded again (SUB-39).
    pub(super) async fn record(
        &self,
        identity: Identity,
        record: Record,
    ) -> Result<(), Interruption> {
        match (&self.inbox, record) {
            (Some(inbox), Record::Due) => {
                let (source, own) = if holds!(SourceRecordedFirst) {
                    (identity.source, identity.own)
                } else {
                    (identity.own, identity.source)
                };
                let keys = CompletionKeys::new(source, own);
                if holds!(RecordBeforeSettlement) {
                    inbox.record(&keys).await?;
                } else {
                    let inbox = inbox.clone();
                    tokio::spawn(async move { inbox.record(&keys).await });
                }
            }
            (None, Record::Due) => return Ok(()),
            (_, Record::Committed) => {}
        }
        self.intake.recorded();
        Ok(())
    }
}
