use nimbus_inbox_core::{Inbox, InboxSetup};
use nimbus_inbox_testing::FaultyStore;
use nimbus_subscriber::{HandlerContext, HandlerError, Subscriber, SubscriberBuilder};

use super::{ENDPOINT, EVENT_TYPE, OrderPlaced, Process, Script, World};

/// What a handler that claims is given.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) inbox: Inbox<FaultyStore>,
    pub(crate) script: Script,
}

impl Tools {
    /// The work of the event in its transaction.
    pub(crate) async fn work(
        &self,
        event: OrderPlaced,
        context: &HandlerContext,
    ) -> Result<(), HandlerError> {
        let (script, handling) = (self.script.clone(), context.clone());
        let work = context.process_in(&self.inbox, (), async |tx| {
            script.play_in(tx, event, handling).await
        });
        work.await
    }
}

/// A subscriber with an inbox and this handler.
pub(crate) fn claiming<F, Fut>(world: &World, process: &Process, handler: F) -> SubscriberBuilder
where
    F: Fn(Tools, OrderPlaced, HandlerContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    let tools = Tools {
        inbox: Inbox::new(ENDPOINT, process.store.clone()).unwrap(),
        script: world.script.clone(),
    };
    Subscriber::builder(ENDPOINT)
        .clock(world.clock)
        .inbox(InboxSetup::new(process.store.clone()))
        .handle_with(tools, EVENT_TYPE, handler)
}
