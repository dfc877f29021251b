//! Services in containers, by the compose file of the repository.

use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use super::{Running, Started, postgres, rabbitmq};
use crate::workspace;

/// What the compose file sets for servers that are gone with the run.
const POSTGRES: &str = "postgres://postgres:nimbus@127.0.0.1:5432/postgres?sslmode=disable";
const RABBITMQ: &str = "amqp://guest:guest@127.0.0.1:5672/%2f";

/// A service that this run started.
#[derive(Debug)]
struct Container(&'static str);

impl Running for Container {}

/// Starts PostgreSQL, where a container engine is there.
pub(super) fn postgres() -> anyhow::Result<Option<Started>> {
    start("postgres", (postgres::ADDRESS, POSTGRES))
}

/// Starts RabbitMQ, where a container engine is there.
pub(super) fn rabbitmq() -> anyhow::Result<Option<Started>> {
    start("rabbitmq", (rabbitmq::ADDRESS, RABBITMQ))
}

fn start(
    service: &'static str,
    (variable, address): (&'static str, &str),
) -> anyhow::Result<Option<Started>> {
    if !has_engine() {
        return Ok(None);
    }
    let container = Container(service);
    let status = compose()
        .args(["up", "--detach", "--wait", container.0])
        .stdin(Stdio::null())
        .status()
        .context("could not start `docker compose up`")?;
    if !status.success() {
        bail!("the container engine could not start a server (see above)");
    }
    Ok(Some(Started {
        running: Box::new(container),
        variable: (variable, address.to_owned()),
        how: "in a container, for this run".to_owned(),
    }))
}

/// The command alone may be installed without an engine that runs.
fn has_engine() -> bool {
    let answers = |arguments: &[&str]| {
        Command::new("docker")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    answers(&["compose", "version"]) && answers(&["info"])
}

fn compose() -> Command {
    let mut command = Command::new("docker");
    command
        .args(["compose", "--file"])
        .arg(workspace::root().join("deploy/local/compose.yaml"));
    command
}

impl Drop for Container {
    fn drop(&mut self) {
        let removed = compose()
            .args(["rm", "--stop", "--force", "--volumes", self.0])
            .stdin(Stdio::null())
            .status();
        if !removed.is_ok_and(|status| status.success()) {
            println!("the container {} is left running", self.0);
        }
    }
}
