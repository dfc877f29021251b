//! Calls that their caller gives up, or leaves alone for a while.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

/// Polls `call` until it was left pending `polls` times, then drops it; at zero it is never
/// polled. Its answer, if it had one before that.
///
/// A call that is woken once per await is thus dropped at its `polls`-th await.
pub(super) async fn drop_after<T>(polls: usize, call: impl Future<Output = T>) -> Option<T> {
    pause_after(polls, pin!(call)).await
}

/// The same, but leaves the call where it stands. A call that answered may not be polled again.
pub(super) async fn pause_after<T>(
    polls: usize,
    mut call: Pin<&mut impl Future<Output = T>>,
) -> Option<T> {
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match call.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU8, Ordering};

    #[tokio::test]
    async fn a_call_gets_exactly_as_far_as_its_polls() {
        for (polls, reached, answer) in [(0, 0, None), (1, 1, None), (2, 2, None), (3, 3, Some(7))]
        {
            let progress = AtomicU8::new(0);
            let call = async {
                for _ in 0..2 {
                    progress.fetch_add(1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                }
                progress.fetch_add(1, Ordering::SeqCst);
                7
            };
            let mut call = pin!(call);
            assert_eq!(pause_after(polls, call.as_mut()).await, answer);
            assert_eq!(progress.load(Ordering::SeqCst), reached);
            if answer.is_none() {
                assert_eq!(call.await, 7);
            }
        }
    }
}
