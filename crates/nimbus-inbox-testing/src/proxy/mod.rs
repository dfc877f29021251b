//! A TCP proxy between a driver and its server, which loses what a test wants lost.

mod connection;
mod fault;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

pub use fault::{HeldRequest, ProxyFault};

use fault::Rule;

/// Forwards connections to a server, byte by byte, until a rule says otherwise.
///
/// A rule waits for bytes that a client sends, such as the text of a statement, and strikes once.
/// Its connections end with it.
#[derive(Debug)]
pub struct TcpProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    rules: Mutex<Vec<Rule>>,
    /// Bytes of answers that are to be lost.
    lost_answers: Mutex<Vec<Vec<u8>>>,
    /// Raised to cut every connection that is open.
    cuts: watch::Sender<u64>,
    /// How many connections were accepted.
    accepted: watch::Sender<u64>,
}

impl TcpProxy {
    /// Listens on a free port of this machine for connections to `server`.
    ///
    /// # Errors
    ///
    /// When no port can be had.
    ///
    /// # Cancel safety
    ///
    /// Dropped, nothing listens.
    pub async fn to(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            rules: Mutex::default(),
            lost_answers: Mutex::default(),
            cuts: watch::Sender::new(0),
            accepted: watch::Sender::new(0),
        });
        let accepting = tokio::spawn(accept(listener, server, Arc::clone(&shared)));
        Ok(Self {
            address,
            shared,
            accepting: accepting.abort_handle(),
        })
    }

    /// Where clients connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections were accepted so far.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        *self.shared.accepted.borrow()
    }

    /// Applies `fault` to the next request that holds `bytes`.
    pub fn inject(&self, bytes: impl AsRef<[u8]>, fault: ProxyFault) {
        lock(&self.shared.rules).push(Rule::fault(bytes.as_ref(), fault));
    }

    /// Cuts the connection before the next answer that holds `bytes`: what
    /// [`ProxyFault::AnswerLost`] does, where several requests are under way at once.
    pub fn lose_answer(&self, bytes: impl AsRef<[u8]>) {
        lock(&self.shared.lost_answers).push(bytes.as_ref().to_vec());
    }

    /// Holds back the next request that holds `bytes`, until the test lets it go.
    #[must_use]
    pub fn hold(&self, bytes: impl AsRef<[u8]>) -> HeldRequest {
        let (rule, held) = Rule::hold(bytes.as_ref());
        lock(&self.shared.rules).push(rule);
        held
    }

    /// Cuts every connection that is open.
    pub fn cut(&self) {
        self.shared.cuts.send_modify(|cuts| *cuts += 1);
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

impl Shared {
    /// The first rule that `request` meets, which is then used up.
    fn met_by(&self, request: &[u8]) -> Option<Rule> {
        let mut rules = lock(&self.rules);
        let met = rules.iter().position(|rule| rule.is_met_by(request))?;
        Some(rules.remove(met))
    }

    /// Whether `answer` is to be lost, once.
    fn loses(&self, answer: &[u8]) -> bool {
        let mut lost = lock(&self.lost_answers);
        let met = lost.iter().position(|bytes| fault::holds(answer, bytes));
        met.map(|met| lost.remove(met)).is_some()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, server: SocketAddr, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        shared.accepted.send_modify(|accepted| *accepted += 1);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            // Without a server the client sees its connection end.
            if let Ok(server) = TcpStream::connect(server).await {
                connection::forward(client, server, &shared).await;
            }
        });
    }
}
