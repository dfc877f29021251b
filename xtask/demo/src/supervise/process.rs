use std::env;
use std::fs::File;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::cli::CONSUME;
use crate::consumer;
use crate::signal::Signal;

/// How long a consumer may take to end after it was asked to, or after its output ended.
const LONGEST_END: Duration = Duration::from_secs(15);

/// A running consumer. Dropped, it is killed.
pub(crate) struct ConsumerProcess {
    child: Child,
    signals: Lines<BufReader<ChildStdout>>,
    /// The consumer works until this is closed.
    input: Option<ChildStdin>,
}

impl ConsumerProcess {
    /// Starts this same program as a consumer.
    pub(crate) fn start(directory: &Path) -> anyhow::Result<Self> {
        let program = env::current_exe().context("can't find the demo's own program")?;
        let log = consumer::log_path(directory);
        let errors = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .with_context(|| format!("can't write the log {}", log.display()))?;
        let mut child = Command::new(&program)
            .arg(CONSUME)
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("can't start the consumer {}", program.display()))?;
        let output = child.stdout.take().context("the consumer has no output")?;
        Ok(Self {
            input: child.stdin.take(),
            child,
            signals: BufReader::new(output).lines(),
        })
    }

    /// The next thing it tells; `None` once its output ended.
    pub(crate) async fn next_signal(&mut self) -> anyhow::Result<Option<Signal>> {
        match self.signals.next_line().await? {
            None => Ok(None),
            Some(line) => Signal::read(&line)
                .map(Some)
                .with_context(|| format!("the consumer said {line:?}, which is no signal")),
        }
    }

    /// Ends it without warning: SIGKILL on Unix. Returns its process id.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<u32> {
        let pid = self
            .child
            .id()
            .context("the consumer ended before it was killed")?;
        self.child.kill().await.context("can't kill the consumer")?;
        Ok(pid)
    }

    /// Asks it to end and waits until it has.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        self.input.take();
        let status = self.ended().await?;
        if !status.success() {
            bail!("the consumer did not end well: {status}");
        }
        Ok(())
    }

    /// How it ended.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<ExitStatus> {
        tokio::time::timeout(LONGEST_END, self.child.wait())
            .await
            .with_context(|| {
                format!(
                    "the consumer did not end within {} s",
                    LONGEST_END.as_secs()
                )
            })?
            .context("can't wait for the consumer")
    }
}
