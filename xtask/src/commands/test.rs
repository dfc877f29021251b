//! `cargo xtask test`: all tests, with nothing but the Rust toolchain.

use std::process::ExitCode;

use crate::testing::{self, Selection, Service, Tally};

/// Run all tests and doc tests.
///
/// Uses cargo-nextest where it is installed, else `cargo test`. PostgreSQL is
/// looked for where NIMBUS_POSTGRES_URL says, then on port 5432; else one is
/// started for the run, in a container or from installed programs. RabbitMQ is
/// looked for where NIMBUS_RABBITMQ_URL says, then on port 5672; else one is
/// started for the run in a container. A suite whose
/// service is not there is skipped and says why. The last line counts them all:
/// `N passed, N failed, N skipped`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Services that have to be there: suites that need them fail instead of
    /// being skipped.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    require: Vec<Service>,

    /// Test only this package (repeatable).
    #[arg(short, long = "package", value_name = "PACKAGE")]
    packages: Vec<String>,

    /// Run only tests whose name contains this text.
    filter: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let selection = Selection {
        packages: arguments.packages.clone(),
        filter: arguments.filter.clone(),
    };
    let tally = testing::run(&selection, &arguments.require)?;
    Ok(close(&tally))
}

/// Prints the closing line and turns it into an exit code.
pub(super) fn close(tally: &Tally) -> ExitCode {
    println!("{tally}");
    if tally.is_red() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
