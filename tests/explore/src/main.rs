//! Explores every scenario to a depth, then wanders; or replays one schedule.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use nimbus_explore::{
    Bounds, Findings, Scenario, Schedule, catalogue, explore, replay, scenario, wander,
};

/// Crash-point exploration of the subscriber over in-memory parts.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask explore")]
struct Arguments {
    /// How many disturbances a schedule may hold: all schedules up to there are run.
    #[arg(long, default_value_t = 2)]
    depth: u8,

    /// Where the random schedules begin; the same seed gives the same ones.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// For how long random schedules are run afterwards.
    #[arg(long, default_value_t = 0)]
    minutes: u64,

    /// Explore only scenarios whose name contains this text.
    #[arg(long, default_value = "")]
    scenario: String,

    /// Run one schedule, as a counterexample prints it, and show what happens.
    #[arg(long, value_name = "SCENARIO@DEPTH:SCHEDULE")]
    replay: Option<String>,

    /// How many threads run schedules.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(replayed) = &arguments.replay {
        return show(replayed);
    }
    let chosen: Vec<_> = catalogue(arguments.depth)
        .into_iter()
        .filter(|scenario| scenario.name.contains(&arguments.scenario))
        .collect();
    let mut total = Findings::default();
    for scenario in &chosen {
        let bounds = Bounds {
            threads: arguments.threads,
            count_states: true,
            ..Bounds::default()
        };
        let began = Instant::now();
        let found = explore(scenario, bounds, || ());
        report(scenario, "all", &found, began);
        total.merge(found);
    }
    if arguments.minutes > 0 {
        wander_through(&arguments, &mut total);
    }
    println!(
        "{} schedules, {} different states, {} steps\n{}",
        total.schedules, total.states, total.steps, total.windows
    );
    Ok(match total.counterexample {
        None => ExitCode::SUCCESS,
        Some(found) => {
            println!("{found}");
            ExitCode::FAILURE
        }
    })
}

/// Shares the time among the scenarios, without a bound on the disturbances.
fn wander_through(arguments: &Arguments, total: &mut Findings) {
    let scenarios: Vec<_> = catalogue(u8::MAX)
        .into_iter()
        .filter(|scenario| scenario.name.contains(&arguments.scenario))
        .collect();
    let share = u32::try_from(scenarios.len()).unwrap_or(1).max(1);
    let share = Duration::from_secs(60 * arguments.minutes) / share;
    for scenario in &scenarios {
        let bounds = Bounds {
            until: Some(Instant::now() + share),
            threads: arguments.threads,
            ..Bounds::default()
        };
        let began = Instant::now();
        let found = wander(scenario, arguments.seed, bounds);
        report(scenario, "random", &found, began);
        total.merge(found);
    }
}

fn report(scenario: &Scenario, kind: &str, found: &Findings, began: Instant) {
    println!(
        "{:>17}  {:>9} schedules ({}{})  {:>8} states  {:>10} steps  {:>6.1} s",
        scenario.name,
        found.schedules,
        kind,
        if found.exhausted { ", exhausted" } else { "" },
        found.states,
        found.steps,
        began.elapsed().as_secs_f64(),
    );
}

fn show(replayed: &str) -> anyhow::Result<ExitCode> {
    let (name, schedule) = replayed
        .split_once(':')
        .context("a replay is of the form SCENARIO@DEPTH:SCHEDULE")?;
    let (name, depth) = name
        .split_once('@')
        .context("a replay is of the form SCENARIO@DEPTH:SCHEDULE")?;
    let scenario =
        scenario(name, depth.parse()?).with_context(|| format!("there is no scenario {name:?}"))?;
    let schedule: Schedule = schedule.parse()?;
    let (trace, violation) = replay(&scenario, &schedule);
    for line in trace {
        println!("{line}");
    }
    Ok(match violation {
        None => {
            println!("nothing is wrong");
            ExitCode::SUCCESS
        }
        Some(violation) => {
            println!("{violation}");
            ExitCode::FAILURE
        }
    })
}
