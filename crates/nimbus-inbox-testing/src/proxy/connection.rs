//! One connection, forwarded.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

use super::Shared;
use super::fault::{ProxyFault, Then};

const CHUNK: usize = 64 * 1024;

/// How much of what was sent before is looked at again, for requests that arrive in pieces.
const REMEMBERED: usize = 1024;

/// Forwards both directions until both have ended, or the connection is cut.
pub(super) async fn forward(client: TcpStream, server: TcpStream, shared: &Shared) {
    let mut cuts = shared.cuts.subscribe();
    let (losing, is_losing) = watch::channel(false);
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let both = async {
        tokio::try_join!(
            requests(from_client, to_server, shared, &losing),
            answers(from_server, to_client, shared, &is_losing),
        )
    };
    // Both halves are dropped together, so that a cut is seen on both sides.
    tokio::select! {
        _ = both => {}
        _ = cuts.changed() => {}
    }
}

async fn requests(
    mut client: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    shared: &Shared,
    losing: &watch::Sender<bool>,
) -> io::Result<()> {
    let mut seen = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = client.read(&mut chunk).await?;
        if length == 0 {
            return server.shutdown().await;
        }
        seen.extend_from_slice(&chunk[..length]);
        match shared.met_by(&seen).map(|rule| rule.then) {
            Some(Then::Fault(ProxyFault::RequestLost)) => return Err(cut()),
            Some(Then::Fault(ProxyFault::AnswerLost)) => {
                losing.send_replace(true);
            }
            Some(Then::Fault(ProxyFault::HalfClose)) => {
                server.write_all(&chunk[..length]).await?;
                return server.shutdown().await;
            }
            Some(Then::Hold { arrived, released }) => {
                // The test may have stopped waiting, or dropped what it held.
                let _ = arrived.send(());
                let _ = released.await;
            }
            None => {
                let kept = seen.len().saturating_sub(REMEMBERED);
                seen.drain(..kept);
                server.write_all(&chunk[..length]).await?;
                continue;
            }
        }
        // What a rule has met, no other one shall meet again.
        seen.clear();
        server.write_all(&chunk[..length]).await?;
    }
}

async fn answers(
    mut server: OwnedReadHalf,
    mut client: OwnedWriteHalf,
    shared: &Shared,
    is_losing: &watch::Receiver<bool>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = server.read(&mut chunk).await?;
        if *is_losing.borrow() || shared.loses(&chunk[..length]) {
            return Err(cut());
        }
        if length == 0 {
            return client.shutdown().await;
        }
        client.write_all(&chunk[..length]).await?;
    }
}

fn cut() -> io::Error {
    io::Error::other("cut by a test")
}
