//! Asynchronous work that may hang, block or panic, run from synchronous code.

use std::any::Any;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::channel;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::runtime::Builder;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Ended {
    Panicked(String),
    Hung,
    NoRuntime(io::Error),
}

/// Enough to let calls truly overlap, few enough for many cases at once.
const WORKERS: usize = 4;

/// How long the work may take, once it answered, to stop what it started.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// Runs the work on a runtime of its own for at most `limit`.
///
/// The limit is watched from outside: work that blocks all workers also blocks their timers.
pub(super) fn watched<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> BoxFuture<'static, T>,
) -> Result<T, Ended> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(Ended::NoRuntime)?;
    let (answer, answered) = channel();
    let work = AssertUnwindSafe(work()).catch_unwind();
    runtime.spawn(async move {
        // Nobody listens any more once the limit passed.
        let _ = answer.send(work.await);
    });
    match answered.recv_timeout(limit) {
        Ok(ended) => {
            runtime.shutdown_timeout(SHUTDOWN);
            ended.map_err(|payload| Ended::Panicked(text_of(payload.as_ref())))
        }
        Err(_) => {
            runtime.shutdown_background();
            Err(Ended::Hung)
        }
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("panicked without a text")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn an_answer_comes_back() {
        assert_eq!(watched(LONG, || async { 7 }.boxed()).unwrap(), 7);
    }

    #[test]
    fn a_panic_comes_back_with_its_text() {
        let ended = watched(LONG, || async { panic!("number {}", 7) }.boxed());
        let ended: Result<(), Ended> = ended;
        assert!(matches!(ended, Err(Ended::Panicked(text)) if text == "number 7"));
    }

    #[test]
    fn work_that_blocks_every_worker_still_meets_its_limit() {
        let block = || async {
            for _ in 0..WORKERS {
                tokio::spawn(async {
                    loop {
                        std::thread::park();
                    }
                });
            }
            std::future::pending::<()>().await;
        };
        let ended = watched(Duration::from_millis(50), || block().boxed());
        assert!(matches!(ended, Err(Ended::Hung)));
    }
}
