use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::configuration;
use super::scene::Scene;
use super::tool::Tool;
use super::verdict::{Seen, Verdict};
use super::wait::{until_parked, until_told};
use crate::consumer::{Instructions, register};
use crate::plan::Plan;
use crate::report::Narrator;
use crate::supervise::{ConsumerProcess, Supervisor};

/// Plays the second act on what the first has left.
pub(crate) async fn perform(
    directory: &Path,
    mut tool: Tool<'_>,
    first: &Plan,
    supervisor: &Supervisor<'_>,
    narrator: &Narrator,
) -> anyhow::Result<Verdict> {
    let scene = Scene::beside(first)?;
    let (blocked, handed_off) = (&scene.blocked, &scene.handed_off);
    let inspector = supervisor.inspector();
    configuration::write(directory)?;
    narrator.say(&format!(
        "\nAct two. {} fails whenever it is tried, and {} waits for the bank.",
        blocked.troubled(),
        handed_off.troubled()
    ));

    let mut resolver = tool.resolver()?;
    supervisor.publish(&scene.plan).await?;
    Instructions {
        run: u32::try_from(first.legs.len() + 1).unwrap_or(u32::MAX),
        hold: None,
        failures: scene.plan.failures.clone(),
        troubles: scene.troubles(),
    }
    .write(directory)?;
    let mut consumer = ConsumerProcess::start(directory)?;
    let waiting = blocked.waiting() + handed_off.waiting();
    until_parked(waiting, &mut consumer, inspector).await?;
    until_told(inspector).await?;

    tool.run(&["sessions", "list"]).await?;
    tool.run(&["sessions", "show", &blocked.session]).await?;
    let mut blocks = Vec::new();
    for order in scene.orders() {
        blocks.push(tool.ask(&["sessions", "show", &order.session]).await?);
    }
    narrator.say(
        "\nThe operator enters the customer in the tax register, and has the event handled again:",
    );
    register::enter(directory)?;
    tool.run(&["resubmit", blocked.troubled()]).await?;
    until_parked(handed_off.waiting(), &mut consumer, inspector).await?;

    narrator.say("\nThe bank has paid:");
    tool.run(&["handoff", "complete", handed_off.troubled()])
        .await?;
    until_parked(0, &mut consumer, inspector).await?;
    until_told(inspector).await?;
    for order in scene.orders() {
        tool.run(&["events", "list", "--session", &order.session])
            .await?;
    }
    narrator.say("");
    consumer.stop().await?;

    let mut seen = Vec::new();
    for order in scene.orders() {
        let answer = tool
            .ask(&["events", "list", "--session", &order.session])
            .await?;
        seen.extend(events(&answer)?);
    }
    let still_runs = resolver.try_wait().context("can't see the resolver")?;
    ensure!(still_runs.is_none(), "the resolver ended by itself");
    resolver.kill().await.context("can't end the resolver")?;

    let executions = supervisor.ledger().executions().await?;
    let mut verdict = Verdict::of(&scene, &executions, &seen);
    for (order, answer) in scene.orders().into_iter().zip(&blocks) {
        verdict.expect_block(order, &answer["session"]);
    }
    verdict.commands = tool.commands();
    Ok(verdict)
}

/// What the tool's list of events says.
fn events(answer: &Value) -> anyhow::Result<Vec<Seen>> {
    let events = answer["events"].as_array();
    let events = events.context("`nimbus events list --json` names no events")?;
    let text = |event: &Value, field: &str| {
        let text = event[field].as_str();
        text.map(ToOwned::to_owned)
            .with_context(|| format!("an event without {field}: {event}"))
    };
    let seen = events.iter().map(|event| {
        Ok(Seen {
            event_id: text(event, "event_id")?,
            state: text(event, "state")?,
        })
    });
    seen.collect()
}
