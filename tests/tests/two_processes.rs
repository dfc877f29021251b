//! Two consumer processes on one SQLite inbox and one embedded queue, killed at random.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nimbus_messaging::{Address, Envelope, EventRequest, Headers, MessageType, Transport};
use nimbus_tests::{ENDPOINT, Entry, Ledger, Step, queue};
use nimbus_transport_embedded::EmbeddedTransport;

const SESSIONS: u32 = 8;
const STEPS: u32 = 250;
const KILLS: u32 = 8;
/// Far above what it takes; a run that hangs ends here and says how far it came.
const DEADLINE: Duration = Duration::from_secs(240);

/// INB-40, INB-01, SUB-08: with 2,000 messages over 8 sessions, a tenth of them published twice,
/// and both processes killed at random, no message is lost, every session keeps its order, and
/// no message whose record was written runs again: a second run only follows a kill of the
/// process that made the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_consumers_lose_nothing_and_keep_the_order() -> anyhow::Result<()> {
    run(Form::Beside).await?;
    Ok(())
}

/// SUB-39, INB-41: the same with handlers that record in their own transaction, in the database of
/// their effects. A kill can no longer fall between effect and record: nothing runs twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_consumers_that_claim_repeat_nothing() -> anyhow::Result<()> {
    assert_eq!(run(Form::Claiming).await?, 0);
    Ok(())
}

/// Where a consumer's records are.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Beside its effects, made by the subscriber.
    Beside,
    /// In the transaction of its effects.
    Claiming,
}

impl Form {
    fn argument(self) -> &'static str {
        match self {
            Self::Beside => "beside",
            Self::Claiming => "claiming",
        }
    }
}

/// Says how many handlers ran a second time.
async fn run(form: Form) -> anyhow::Result<usize> {
    let directory = tempfile::tempdir()?;
    let directory = directory.path();
    let transport = queue(directory).await?;
    transport.verify(&ENDPOINT.parse()?).await?;
    publish(&transport).await?;
    let ledger = Ledger::open(directory).await?;

    let mut consumers = Consumers::start(directory, form)?;
    let mut chance = Chance(0x5eed);
    let begun = Instant::now();
    let published = waiting(&transport).await?;
    loop {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let left = waiting(&transport).await?;
        if left == 0 {
            break;
        }
        anyhow::ensure!(
            begun.elapsed() < DEADLINE,
            "after {DEADLINE:?} there are {left} left"
        );
        // By progress, not by time: however fast the machine, the kills fall into the work.
        let done = consumers.killed.len() as u64;
        let next = published * (u64::from(KILLS) + 1 - done) / (u64::from(KILLS) + 2);
        if done < u64::from(KILLS) && left <= next.saturating_sub(chance.next() % 100) {
            consumers.kill_and_restart(chance.below(2))?;
        }
    }
    let killed = consumers.stop()?;
    assert_eq!(
        killed.len(),
        KILLS as usize,
        "the run was over before all kills"
    );

    let entries = ledger.entries().await?;
    let second_runs = check_effects(&entries, &killed);
    check_outcomes(&transport).await?;
    println!(
        "{form:?}: {} events, {} kills, {second_runs} second runs in the documented window, {:?}",
        SESSIONS * STEPS,
        killed.len(),
        begun.elapsed()
    );
    Ok(second_runs)
}

/// How many messages wait at the endpoint in any form.
async fn waiting(transport: &EmbeddedTransport) -> anyhow::Result<u64> {
    let counts = transport.inspector().queue(ENDPOINT).await?;
    Ok(counts.ready + counts.scheduled + counts.deferred + counts.parked)
}

async fn publish(transport: &EmbeddedTransport) -> anyhow::Result<()> {
    let sender = transport.sender(&Address::new(ENDPOINT)).await?;
    for number in 0..STEPS {
        let mut batch = Vec::new();
        for session in 0..SESSIONS {
            let event = event(session, number)?;
            if (number + session) % 10 == 0 {
                batch.push(event.clone());
            }
            batch.push(event);
        }
        sender.send(batch).await?;
    }
    Ok(())
}

fn event(session: u32, number: u32) -> anyhow::Result<Envelope> {
    Ok(EventRequest::new("Step", &Step { number })?
        .with_message_id(format!("order-{session}:step-{number}:1"))
        .with_event_id(format!("order-{session}:step-{number}"))
        .with_session(format!("order-{session}"))
        .to(ENDPOINT))
}

/// Says how many handlers ran a second time.
fn check_effects(entries: &[Entry], killed: &BTreeSet<String>) -> usize {
    let mut by_session: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        by_session.entry(&entry.session).or_default().push(entry);
    }
    assert_eq!(by_session.len(), SESSIONS as usize);
    let mut second_runs = 0;
    for (session, entries) in by_session {
        let mut expected = 0;
        let mut last: Option<&Entry> = None;
        for entry in entries {
            match last.filter(|last| last.number == entry.number) {
                Some(first_run) => {
                    second_runs += 1;
                    assert!(
                        killed.contains(&first_run.process),
                        "{session} {}: ran again although {} was not killed",
                        entry.number,
                        first_run.process
                    );
                }
                None => {
                    assert_eq!(
                        entry.number, expected,
                        "{session} lost its order or a message"
                    );
                    expected += 1;
                }
            }
            last = Some(entry);
        }
        assert_eq!(expected, STEPS, "{session} lost its last messages");
    }
    second_runs
}

/// Every event has been reported as done, and nothing as failed.
async fn check_outcomes(transport: &EmbeddedTransport) -> anyhow::Result<()> {
    let mut done = BTreeSet::new();
    loop {
        let outcomes = transport
            .inspector()
            .drain(Address::RESOLVER, 1_000)
            .await?;
        if outcomes.is_empty() {
            break;
        }
        for outcome in outcomes {
            let headers = Headers::read(&outcome)?;
            match headers.message_type {
                MessageType::ResolutionResponse | MessageType::SkipResponse => {
                    done.extend(headers.event_id.map(|id| id.as_str().to_owned()));
                }
                other => anyhow::bail!("an unexpected outcome: {other} {:?}", headers.event_id),
            }
        }
    }
    assert_eq!(done.len(), (SESSIONS * STEPS) as usize);
    Ok(())
}

/// The two processes, restarted under a new name after each kill.
struct Consumers<'a> {
    directory: &'a Path,
    form: Form,
    running: Vec<(String, Child)>,
    started: u32,
    killed: BTreeSet<String>,
}

impl<'a> Consumers<'a> {
    fn start(directory: &'a Path, form: Form) -> anyhow::Result<Self> {
        let mut consumers = Self {
            directory,
            form,
            running: Vec::new(),
            started: 0,
            killed: BTreeSet::new(),
        };
        for _ in 0..2 {
            let consumer = consumers.spawn()?;
            consumers.running.push(consumer);
        }
        Ok(consumers)
    }

    fn spawn(&mut self) -> anyhow::Result<(String, Child)> {
        self.started += 1;
        let name = format!("process-{}", self.started);
        let child = Command::new(env!("CARGO_BIN_EXE_consumer"))
            .arg(self.directory)
            .arg(&name)
            .arg(self.form.argument())
            .stdin(Stdio::piped())
            .spawn()?;
        Ok((name, child))
    }

    /// SIGKILL, so that nothing of the process gets a chance to tidy up.
    fn kill_and_restart(&mut self, index: usize) -> anyhow::Result<()> {
        let successor = self.spawn()?;
        let (name, mut child) = std::mem::replace(&mut self.running[index], successor);
        child.kill()?;
        child.wait()?;
        self.killed.insert(name);
        Ok(())
    }

    /// Closes the input of each and waits for its orderly end.
    fn stop(mut self) -> anyhow::Result<BTreeSet<String>> {
        for (name, child) in &mut self.running {
            drop(child.stdin.take());
            let status = child.wait()?;
            anyhow::ensure!(status.success(), "{name} ended with {status}");
        }
        Ok(std::mem::take(&mut self.killed))
    }
}

/// A failed test leaves no process behind.
impl Drop for Consumers<'_> {
    fn drop(&mut self) {
        for (_, child) in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A small seeded generator: a failing run can be repeated.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> usize {
        usize::try_from(self.next() % bound).unwrap_or(0)
    }
}
