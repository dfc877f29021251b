//! The run: publishes, starts consumers, kills them at their points, and waits until nothing is
//! left to do.

mod aftermath;
mod process;
mod watch;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use nimbus_inbox_sqlite::SqliteInbox;
use nimbus_transport_embedded::{EmbeddedTransport, Inspector};

pub(crate) use aftermath::{Aftermath, recorded};
pub(crate) use process::ConsumerProcess;

use crate::consumer::{self, Instructions, Troubles};
use crate::ledger::Ledger;
use crate::plan::{Kill, Leg, Plan};
use crate::queue::{self, Publisher};
use crate::report::Narrator;
use crate::signal::{Delivered, Signal};
use watch::Watch;

/// What the supervisor saw happen.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Each delivery and the consumer that it went to, from 1.
    pub(crate) deliveries: Vec<(u32, Delivered)>,
    pub(crate) kills: Vec<Aftermath>,
}

/// Everything that outlives a consumer.
pub(crate) struct Supervisor<'a> {
    directory: &'a Path,
    plan: &'a Plan,
    narrator: &'a Narrator,
    publisher: Publisher,
    inspector: Inspector,
    inbox: SqliteInbox,
    ledger: Ledger,
    observed: Observed,
}

impl<'a> Supervisor<'a> {
    pub(crate) async fn open(
        directory: &'a Path,
        plan: &'a Plan,
        narrator: &'a Narrator,
    ) -> anyhow::Result<Self> {
        let queue: EmbeddedTransport = queue::open(directory).await?;
        Ok(Self {
            directory,
            plan,
            narrator,
            publisher: Publisher::new(&queue).await?,
            inspector: queue.inspector(),
            inbox: consumer::open_inbox(directory).await?,
            ledger: Ledger::open(directory).await?,
            observed: Observed::default(),
        })
    }

    /// Works through the plan. Whatever goes wrong with a consumer ends it with the reason.
    pub(crate) async fn run(&mut self) -> anyhow::Result<()> {
        let plan = self.plan;
        let limit = time_limit(plan);
        let legs = async {
            for (run, leg) in (1..).zip(&plan.legs) {
                self.leg(run, leg).await?;
            }
            anyhow::Ok(())
        };
        match tokio::time::timeout(limit, legs).await {
            Ok(ended) => ended,
            Err(_) => bail!("the run did not end within {} s", limit.as_secs()),
        }
    }

    /// Publishes all messages of another plan.
    pub(crate) async fn publish(&self, plan: &Plan) -> anyhow::Result<()> {
        let publications = &plan.publications;
        let sent = self.publisher.send(plan, publications).await;
        sent.context("publishing the events failed")
    }

    pub(crate) fn observed(&self) -> &Observed {
        &self.observed
    }

    pub(crate) fn inspector(&self) -> &Inspector {
        &self.inspector
    }

    pub(crate) fn inbox(&self) -> &SqliteInbox {
        &self.inbox
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    async fn leg(&mut self, run: u32, leg: &Leg) -> anyhow::Result<()> {
        let publications = &self.plan.publications[leg.publications.clone()];
        self.publisher
            .send(self.plan, publications)
            .await
            .context("publishing the events failed")?;
        let left = self.plan.publications.len() - leg.publications.end;
        Instructions {
            run,
            hold: leg.kill.clone().filter(|kill| kill.message_id().is_some()),
            failures: self.plan.failures.clone(),
            troubles: Troubles::default(),
        }
        .write(self.directory)?;
        let mut consumer = ConsumerProcess::start(self.directory)?;
        let mut watch = Watch::new(self.plan.publications.len(), left);
        loop {
            tokio::select! {
                signal = consumer.next_signal() => match signal? {
                    None => bail!("the consumer ended by itself: {}", consumer.ended().await?),
                    Some(Signal::Held(kill)) if Some(&kill) == leg.kill.as_ref() => break,
                    Some(Signal::Held(kill)) => bail!("a message was held for another kill: {kill:?}"),
                    Some(Signal::Delivered(delivered)) => {
                        self.observed.deliveries.push((run, delivered));
                        watch.delivered();
                        if matches!(leg.kill, Some(Kill::AfterDeliveries(n)) if watch.deliveries() >= n) {
                            break;
                        }
                    }
                },
                () = watch.tick() => {
                    let counts = self.inspector.queue(queue::ENDPOINT).await?;
                    let done = watch.look(&counts)?;
                    self.narrator.advance(watch.handled());
                    match &leg.kill {
                        _ if !done => {}
                        None => return consumer.stop().await,
                        // Its signals are still to be read.
                        Some(Kill::AfterDeliveries(_)) => break,
                        Some(kill) => bail!("all was handled, and nothing was held for {kill:?}"),
                    }
                }
            }
        }
        self.kill(run, leg, consumer).await
    }

    /// Kills the consumer, then looks at what it left behind before the next one starts.
    async fn kill(
        &mut self,
        run: u32,
        leg: &Leg,
        mut consumer: ConsumerProcess,
    ) -> anyhow::Result<()> {
        let Some(kill) = leg.kill.clone() else {
            return Ok(());
        };
        let pid = consumer.kill().await?;
        while let Some(signal) = consumer.next_signal().await? {
            if let Signal::Delivered(delivered) = signal {
                self.observed.deliveries.push((run, delivered));
            }
        }
        let aftermath =
            Aftermath::look(run, pid, kill, &self.inspector, &self.inbox, &self.ledger).await?;
        self.narrator.killed(&aftermath, self.plan.kills());
        self.observed.kills.push(aftermath);
        Ok(())
    }
}

/// Generous: it is there so that nobody waits for ever.
fn time_limit(plan: &Plan) -> Duration {
    let messages = u32::try_from(plan.publications.len()).unwrap_or(u32::MAX);
    Duration::from_secs(120).saturating_add(Duration::from_millis(100).saturating_mul(messages))
}
