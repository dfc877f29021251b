//! Project automation, run as `cargo xtask`.
//!
//! Links no provider and no transport: `demo`, `bench`, `explore`, `provision` and `ddl`
//! run the packages that do, so that `test` and `ci` start within seconds.

mod commands;
mod files;
mod hygiene;
mod requirements;
mod steps;
mod testing;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use commands::{bench, ci, ddl, demo, explore, provision, test};

/// Project automation for nimbus-inbox.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Test(test::Arguments),
    Ci(ci::Arguments),
    Bench(bench::Arguments),
    Provision(provision::Arguments),
    Ddl(ddl::Arguments),
    Explore(explore::Arguments),
    Requirements(commands::requirements::Arguments),
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Ci(arguments) => ci::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Provision(arguments) => provision::run(&arguments),
        Command::Ddl(arguments) => ddl::run(&arguments),
        Command::Explore(arguments) => explore::run(&arguments),
        Command::Requirements(arguments) => commands::requirements::run(&arguments),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
