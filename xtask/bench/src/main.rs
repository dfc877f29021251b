//! Benchmarks, each as a ratio to a baseline measured in the same run.
//!
//! Machines are noisy: quote ratios, and say which machine and when.

mod identity;
mod load;
mod measure;
mod pipeline;
mod report;
mod sqlite;
mod subscriber;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;

use crate::report::Report;

/// Measure the inbox: prints a table and, where asked, writes JSON.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    /// Measure only these groups; all by default.
    #[arg(value_enum, value_name = "GROUP")]
    groups: Vec<Group>,
    /// How long each load is kept up, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    seconds: f64,
    /// Write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Group {
    /// The identity hash, against SHA-256 over the same bytes.
    Identity,
    /// The inbox around a handler that does nothing, over the store in memory.
    Pipeline,
    /// The whole subscriber over store and broker in memory.
    Subscriber,
    /// Check and record in SQLite, against a loop written by hand.
    Sqlite,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let duration = Duration::try_from_secs_f64(arguments.seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .context("--seconds takes a number above zero")?;
    let chosen = |group| arguments.groups.is_empty() || arguments.groups.contains(&group);

    let mut report = Report::default();
    if chosen(Group::Identity) {
        identity::run(&mut report);
    }
    if chosen(Group::Pipeline) {
        pipeline::run(&mut report)?;
    }
    if chosen(Group::Subscriber) {
        subscriber::run(&mut report)?;
    }
    if chosen(Group::Sqlite) {
        sqlite::run(&mut report, duration)?;
    }
    print!("{report}");
    if let Some(file) = &arguments.json {
        let json = serde_json::to_vec_pretty(&report)?;
        std::fs::write(file, json)
            .with_context(|| format!("the figures can't be written to {}", file.display()))?;
    }
    Ok(())
}
