//! A PostgreSQL that runs already.

use std::env;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use super::Found;

/// Names a server on which tests may create schemas, roles and databases.
pub(super) const ADDRESS: &str = "NIMBUS_POSTGRES_URL";

pub(super) const PORT: u16 = 5432;

pub(super) fn find() -> Found {
    if env::var_os(ADDRESS).is_some() {
        return Found::There(format!("as {ADDRESS} says"));
    }
    if listens(PORT) {
        return Found::There(format!("on port {PORT}"));
    }
    Found::Nowhere
}

pub(super) fn listens(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, Duration::from_secs(2)).is_ok()
}
