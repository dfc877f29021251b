//! The proxy between a driver and its server.

use std::net::SocketAddr;

use nimbus_inbox_testing::{ProxyFault, TcpProxy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A server that repeats what it hears, and what it has heard so far.
async fn echo() -> (SocketAddr, mpsc::UnboundedReceiver<Vec<u8>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let (heard, hearing) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut peer, _)) = listener.accept().await {
            let heard = heard.clone();
            tokio::spawn(async move {
                let mut chunk = [0; 1024];
                while let Ok(length) = peer.read(&mut chunk).await {
                    // An empty one says that the client sends nothing more.
                    let _ = heard.send(chunk[..length].to_vec());
                    if length == 0 || peer.write_all(&chunk[..length]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, hearing)
}

async fn proxied() -> (TcpProxy, TcpStream, mpsc::UnboundedReceiver<Vec<u8>>) {
    let (address, hearing) = echo().await;
    let proxy = TcpProxy::to(address).await.expect("a port");
    let client = TcpStream::connect(proxy.address()).await.expect("listens");
    (proxy, client, hearing)
}

async fn answer(client: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut answer = vec![0; length];
    client.read_exact(&mut answer).await.expect("an answer");
    answer
}

/// A cut may be seen as an end or as a reset.
async fn is_cut(client: &mut TcpStream) -> bool {
    !matches!(client.read(&mut [0; 64]).await, Ok(length) if length > 0)
}

#[tokio::test]
async fn bytes_travel_unchanged_in_both_directions() {
    let (proxy, mut client, mut hearing) = proxied().await;
    client.write_all(b"hello").await.expect("open");
    assert_eq!(hearing.recv().await.expect("heard"), b"hello");
    assert_eq!(answer(&mut client, 5).await, b"hello");
    assert_eq!(proxy.accepted(), 1);
    proxy.cut();
    assert!(is_cut(&mut client).await);
}

#[tokio::test]
async fn a_lost_request_is_never_heard() {
    let (proxy, mut client, mut hearing) = proxied().await;
    proxy.inject("insert", ProxyFault::RequestLost);
    client.write_all(b"check").await.expect("open");
    assert_eq!(answer(&mut client, 5).await, b"check");
    client.write_all(b"an insert").await.expect("open");
    assert!(is_cut(&mut client).await);
    assert_eq!(hearing.recv().await.expect("heard"), b"check");
    assert_ne!(hearing.recv().await.as_deref(), Some(&b"an insert"[..]));
}

#[tokio::test]
async fn a_lost_answer_leaves_the_request_heard() {
    let (proxy, mut client, mut hearing) = proxied().await;
    proxy.inject("insert", ProxyFault::AnswerLost);
    client.write_all(b"an insert").await.expect("open");
    assert!(is_cut(&mut client).await);
    assert_eq!(hearing.recv().await.expect("heard"), b"an insert");

    let mut client = TcpStream::connect(proxy.address()).await.expect("listens");
    client.write_all(b"an insert").await.expect("open");
    assert_eq!(
        answer(&mut client, 9).await,
        b"an insert",
        "it strikes once"
    );
}

#[tokio::test]
async fn an_answer_is_lost_by_what_it_says() {
    let (proxy, mut client, mut hearing) = proxied().await;
    proxy.lose_answer("done");
    client.write_all(b"insert").await.expect("open");
    assert_eq!(answer(&mut client, 6).await, b"insert");
    client.write_all(b"done").await.expect("open");
    assert!(is_cut(&mut client).await);
    assert_eq!(hearing.recv().await.expect("heard"), b"insert");
    assert_eq!(hearing.recv().await.expect("heard"), b"done");
}

#[tokio::test]
async fn after_a_half_close_the_answer_still_arrives() {
    let (proxy, mut client, mut hearing) = proxied().await;
    proxy.inject("insert", ProxyFault::HalfClose);
    client.write_all(b"an insert").await.expect("open");
    assert_eq!(answer(&mut client, 9).await, b"an insert");
    assert_eq!(hearing.recv().await.expect("heard"), b"an insert");
    assert_eq!(hearing.recv().await.expect("the end"), b"");
}

#[tokio::test]
async fn a_held_request_waits_for_the_test() {
    let (proxy, mut client, mut hearing) = proxied().await;
    let mut held = proxy.hold("insert");
    // In two pieces.
    client.write_all(b"an ins").await.expect("open");
    assert_eq!(hearing.recv().await.expect("heard"), b"an ins");
    client.write_all(b"ert").await.expect("open");
    held.arrived().await;
    assert!(hearing.try_recv().is_err());
    held.release();
    assert_eq!(hearing.recv().await.expect("heard"), b"ert");
    assert_eq!(answer(&mut client, 9).await, b"an insert");
}
