use std::future::Future;
use std::io::Read;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

/// How long after the end of its input the process may still live.
const LONGEST_END: Duration = Duration::from_secs(20);

/// Resolves when standard input ends: the supervisor closed it, or is gone.
///
/// Read by a thread of its own, since the runtime would wait for a read that never returns.
pub(super) fn when_input_ends() -> impl Future<Output = ()> + Send {
    let (ended, wait) = oneshot::channel::<()>();
    thread::spawn(move || {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        drop(ended);
        // A consumer that holds a message never ends by itself; nobody is left to kill it.
        thread::sleep(LONGEST_END);
        std::process::exit(1);
    });
    async move {
        let _ = wait.await;
    }
}
