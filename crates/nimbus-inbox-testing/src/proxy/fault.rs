use tokio::sync::oneshot;

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyFault {
    /// The connection is cut, and the server never sees the request.
    RequestLost,
    /// The server carries it out and answers; then the connection is cut before the client sees
    /// anything of the answer.
    AnswerLost,
    /// The server gets it, and then learns that the client sends nothing more. What it answers
    /// still arrives.
    HalfClose,
}

/// A request that waits for its test.
#[derive(Debug)]
pub struct HeldRequest {
    arrived: oneshot::Receiver<()>,
    release: oneshot::Sender<()>,
}

impl HeldRequest {
    /// Waits until the request is there.
    ///
    /// # Panics
    ///
    /// When the proxy is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it can be called again.
    pub async fn arrived(&mut self) {
        let arrived = (&mut self.arrived).await;
        arrived.expect("the proxy of a held request must be kept");
    }

    /// Lets it go on to the server. Dropping it does the same.
    pub fn release(self) {
        // The connection may be gone by now.
        let _ = self.release.send(());
    }
}

/// Bytes of a request, and what they bring about.
#[derive(Debug)]
pub(super) struct Rule {
    bytes: Vec<u8>,
    pub(super) then: Then,
}

#[derive(Debug)]
pub(super) enum Then {
    Fault(ProxyFault),
    Hold {
        arrived: oneshot::Sender<()>,
        released: oneshot::Receiver<()>,
    },
}

impl Rule {
    pub(super) fn fault(bytes: &[u8], fault: ProxyFault) -> Self {
        Self {
            bytes: bytes.to_vec(),
            then: Then::Fault(fault),
        }
    }

    pub(super) fn hold(bytes: &[u8]) -> (Self, HeldRequest) {
        let (arrived, is_arrived) = oneshot::channel();
        let (release, released) = oneshot::channel();
        let rule = Self {
            bytes: bytes.to_vec(),
            then: Then::Hold { arrived, released },
        };
        let held = HeldRequest {
            arrived: is_arrived,
            release,
        };
        (rule, held)
    }

    pub(super) fn is_met_by(&self, request: &[u8]) -> bool {
        holds(request, &self.bytes)
    }
}

pub(super) fn holds(text: &[u8], bytes: &[u8]) -> bool {
    let length = bytes.len().max(1);
    text.windows(length).any(|window| window == bytes)
}
