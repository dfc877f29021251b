use std::process::ExitCode;

use clap::Subcommand;
use nimbus_resolver::Resolver;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::output::print;
use crate::place::Place;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Receive what the configured endpoints report, until interrupted or terminated.
    Run,
}

pub(crate) async fn run(place: &Place, command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Run => keep(place).await,
    }
}

/// One resolver for each configuration; those that share a queue share its work.
async fn keep(place: &Place) -> Result<ExitCode, Failure> {
    let stop = CancellationToken::new();
    let mut running = JoinSet::new();
    for endpoint in place.endpoints() {
        let settings = endpoint.resolver_settings()?;
        let store = settings.open().await?;
        let transport = endpoint.transport().await?;
        let resolver = Resolver::new(store.clone(), transport).with_options(settings.options());
        tracing::info!(
            endpoint = endpoint.name(),
            database = %store.path().display(),
            "receiving what is reported"
        );
        running.spawn(resolver.run(stop.clone().cancelled_owned()));
    }
    let asked = {
        let stop = stop.clone();
        tokio::spawn(async move {
            interrupted().await;
            stop.cancel();
        })
    };
    let mut failed = None;
    while let Some(ended) = running.join_next().await {
        match ended {
            Ok(Ok(report)) => {
                failed = print(&format!("{report}\n")).err().or(failed);
            }
            Ok(Err(error)) => failed = Some(Failure::from(error)),
            Err(error) => failed = Some(Failure::configuration(error.to_string())),
        }
        // Half a resolver would hide that the other half is gone.
        stop.cancel();
    }
    asked.abort();
    failed.map_or(Ok(ExitCode::SUCCESS), Err)
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};

    match signal(SignalKind::terminate()) {
        Ok(mut terminated) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminated.recv() => {}
        },
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

#[cfg(not(unix))]
async fn interrupted() {
    let _ = tokio::signal::ctrl_c().await;
}
