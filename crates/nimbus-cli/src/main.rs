//! `nimbus`: see the crate's documentation.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    nimbus_cli::run().await
}
