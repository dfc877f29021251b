//! One run from the events file to the report.

use std::io::{ErrorKind, Write, stdout};
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::account::{Account, Evidence, gather};
use crate::cli::RunArguments;
use crate::directory::Directory;
use crate::events::{self, EventFile};
use crate::operator::{self, Tool, Verdict};
use crate::plan::Plan;
use crate::report::{Narrator, Report, document, table};
use crate::supervise::Supervisor;

/// Ends well only if every message is accounted for.
pub(crate) async fn run(arguments: &RunArguments) -> anyhow::Result<ExitCode> {
    let narrator = Narrator::new();
    let path = arguments.events.clone().unwrap_or_else(events::own_file);
    let EventFile { events, reading } = events::read(&path)?;
    narrator.read(&reading);
    if events.is_empty() {
        bail!(
            "{} holds no event to publish{}",
            path.display(),
            reading.advice()
        );
    }
    let plan = Plan::new(events, arguments.seed);
    let directory = Directory::new()?;
    narrator.begin(&plan);
    let worked = tokio::select! {
        worked = work(&directory, &plan, &narrator) => worked,
        // Left to itself the signal would leave the databases behind.
        _ = tokio::signal::ctrl_c() => {
            narrator.end();
            bail!("interrupted");
        }
    };
    narrator.end();
    let (evidence, verdict) = match worked {
        Ok(worked) => worked,
        Err(error) => {
            narrator.say(&directory.keep_for_inquiry());
            return Err(error);
        }
    };

    let account = Account::of(&evidence);
    let clean = account.is_clean() && verdict.is_clean();
    let report = Report {
        seed: arguments.seed,
        reading: &reading,
        plan: &plan,
        account: &account,
        kills: &evidence.kills,
        verdict: &verdict,
        kept: directory.keep_if(arguments.keep || !clean),
    };
    let text = if arguments.json {
        document(&report)? + "\n"
    } else {
        table(&report)
    };
    print(&text)?;
    Ok(if clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Both acts. What the first has left is looked at before the second begins.
async fn work(
    directory: &Directory,
    plan: &Plan,
    narrator: &Narrator,
) -> anyhow::Result<(Evidence, Verdict)> {
    let tool = Tool::find(directory.path(), narrator).await?;
    let mut supervisor = Supervisor::open(directory.path(), plan, narrator).await?;
    supervisor.run().await?;
    narrator.end();
    let evidence = gather(plan, &supervisor).await?;
    let verdict = operator::perform(directory.path(), tool, plan, &supervisor, narrator).await?;
    Ok((evidence, verdict))
}

/// A reader that has seen enough, such as `head`, is no failure.
fn print(text: &str) -> anyhow::Result<()> {
    match stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("the report could not be written")
        }
        _ => Ok(()),
    }
}
