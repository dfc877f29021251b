//! The transactional form of the inbox inside a handler (SUB-39).

use nimbus_inbox_core::{
    Claim, CompletionKeys, Error, Inbox, InboxKey, Operation, Processed, Routing, Transactional,
};
use nimbus_messaging::Headers;

use super::HandlerContext;
use super::claim::Claimed;

impl HandlerContext {
    /// Runs the handler's work in a transaction that also records the message: effects and record
    /// commit together, or neither does (INB-41).
    ///
    /// `inbox` is one of this subscriber's endpoint, on a store in the database that `connection`
    /// leads to. What is recorded are the ids of this delivery: of a stand-in the source's and its
    /// own (INB-15), of a resubmission that resolves its session's block that of the blocking
    /// message. The subscriber then records nothing itself. An unusable id runs the work in a
    /// transaction without a record.
    ///
    /// Where the message was recorded before, the work does not run and this returns `Ok`: the
    /// subscriber takes the message for a duplicate, whatever else the handler does.
    ///
    /// Of work that has called [`mark_pending_handoff`](Self::mark_pending_handoff) by the time it
    /// returns, the effects are committed and no record (INB-13).
    ///
    /// What has been committed stands. An error, a panic or a handoff that comes after it is logged
    /// and changes nothing, since work that succeeded must not run again; so let nothing follow
    /// this call, and end the handler with it:
    ///
    /// ```no_run
    /// # use nimbus_inbox_core::Inbox;
    /// # use nimbus_inbox_testing::InMemoryInbox;
    /// # use nimbus_subscriber::{HandlerContext, HandlerError};
    /// # struct OrderPlaced { order: String }
    /// async fn invoice(
    ///     inbox: Inbox<InMemoryInbox>,
    ///     event: OrderPlaced,
    ///     context: HandlerContext,
    /// ) -> Result<(), HandlerError> {
    ///     let work = context.process_in(&inbox, (), async |tx| {
    ///         tx.on_commit(move || println!("invoice for {}", event.order));
    ///         Ok(())
    ///     });
    ///     work.await
    /// }
    /// ```
    ///
    /// A subscriber without an [inbox](crate::SubscriberBuilder::inbox) checks nothing before the
    /// handler, which then begins for every duplicate and is stopped here. Give it the same store,
    /// so that duplicates are found sooner and records expire.
    ///
    /// # Errors
    ///
    /// The error of `work` as it was, after a rollback. A configuration [`Error`] when the inbox is
    /// of another endpoint, or when this run of the handler has committed before: nothing runs then.
    /// A transient one when the store can't carry out a step. Hand it on: the message is then left
    /// for redelivery, and intake pauses until the store answers. Whether a commit whose answer was
    /// lost took effect is for the redelivery to find out, whatever the handler returns.
    ///
    /// One of several deliveries of the same message at once waits for the others' transactions. A
    /// wait beyond the inbox's [store timeout](nimbus_inbox_core::InboxOptions::store_timeout) counts
    /// as such a failure, so make that longer than the work takes.
    ///
    /// # Panics
    ///
    /// A panic of `work` goes on to the subscriber; the transaction is rolled back.
    ///
    /// # Cancel safety
    ///
    /// Dropped before the commit began, the transaction is rolled back. Dropped during it, effects
    /// and record are both there or both not, and the redelivery finds out.
    ///
    /// Dropped by a timeout before `work` began, the handler has not failed: unless it returns an
    /// error that it has classified, the message is left for redelivery, which looks for the record
    /// that it may have waited for.
    pub async fn process_in<S, C, E, F>(
        &self,
        inbox: &Inbox<S>,
        connection: C,
        work: F,
    ) -> Result<(), E>
    where
        S: Transactional<C> + ?Sized,
        F: AsyncFnOnce(&mut S::Tx<'_>) -> Result<(), E>,
        E: From<Error>,
    {
        self.must_serve(inbox.endpoint().as_str())?;
        let transaction = self.progress().begin()?;
        let keys = self.keys(inbox);
        let ended = inbox
            .process_claims(
                connection,
                &keys,
                self.claiming().duplicate,
                &routing(self.headers()),
                async |tx: &mut S::Tx<'_>| {
                    transaction.working();
                    work(tx).await.map_err(Failure::Work)?;
                    transaction.committing();
                    Ok(if self.is_handed_off() {
                        Claim::Release(Claimed::HandedOff)
                    } else {
                        Claim::Keep(Claimed::Recorded)
                    })
                },
            )
            .await;
        match ended {
            Ok(Processed::Handled(handled)) => transaction.end(handled.value),
            Ok(Processed::Duplicate) => transaction.end(Claimed::Duplicate),
            Err(Failure::Work(error)) => {
                transaction.end(Claimed::Nothing);
                return Err(error);
            }
            Err(Failure::Store(error)) => {
                transaction.fail();
                return Err(error.into());
            }
        }
        Ok(())
    }

    fn must_serve(&self, endpoint: &str) -> Result<(), Error> {
        if self.endpoint().as_str() == endpoint {
            return Ok(());
        }
        Err(Error::configuration(
            Operation::Configure,
            format!(
                "the inbox passed to process_in is of the endpoint {endpoint:?}, and this \
                 subscriber serves {:?}; nothing was run: make the inbox with the subscriber's \
                 endpoint",
                self.endpoint().as_str()
            ),
        ))
    }

    /// The source first, then the delivery's own (INB-15).
    fn keys<S: nimbus_inbox_core::InboxStore + ?Sized>(&self, inbox: &Inbox<S>) -> CompletionKeys {
        let (headers, claiming) = (self.headers(), self.claiming());
        let usable = |id: &Option<String>| -> Option<InboxKey> {
            id.as_deref().and_then(|id| inbox.key(Some(id)).ok())
        };
        let own = if claiming.admitted {
            usable(&headers.message_id)
        } else {
            inbox.admit(headers.message_id.as_deref()).key().cloned()
        };
        let source = usable(&claiming.resolves).or_else(|| usable(&headers.inbox_message_id));
        CompletionKeys::new(source, own)
    }
}

/// Tells the store's failures from those of the work.
enum Failure<E> {
    Work(E),
    Store(Error),
}

impl<E> From<Error> for Failure<E> {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Where a message belongs, for the log line of a duplicate.
pub(crate) fn routing(headers: &Headers) -> Routing<'_> {
    Routing::default()
        .with_message_type(headers.message_type.as_str())
        .with_event_type(headers.event_type_id.as_deref())
        .with_event_id(headers.event_id.as_ref().map(|id| id.as_str()))
        .with_session_id(headers.session_id.as_deref())
        .with_correlation_id(headers.correlation_id.as_deref())
}
