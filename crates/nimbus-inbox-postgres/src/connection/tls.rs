//! TLS by rustls, with the certificate and the host's name verified.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nimbus_inbox_core::{Error, Operation};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore, crypto};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::misconfigured;

/// A connector that trusts the certificates of `ca_file`, or else those that the system trusts.
pub(crate) async fn connector(ca_file: Option<PathBuf>) -> Result<MakeRustlsConnect, Error> {
    // Reading the roots is file work.
    let roots = tokio::task::spawn_blocking(move || match ca_file {
        Some(path) => from_file(&path),
        None => from_system(),
    });
    let roots = roots.await.map_err(|gone| {
        Error::transient(
            Operation::Open,
            "reading the trusted certificates was cut off",
        )
        .with_provider(crate::error::PROVIDER)
        .with_source(gone)
    })??;
    // Named here, so that it doesn't depend on what else the program has installed.
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|problem| {
            misconfigured(Operation::Open, "TLS can't be set up").with_source(problem)
        })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn from_file(path: &Path) -> Result<RootCertStore, Error> {
    let unusable = |reason: &str| {
        misconfigured(
            Operation::Open,
            format!(
                "{} holds no certificate that could vouch for the server: {reason}",
                path.display()
            ),
        )
    };
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|problem| unusable("it can't be read as PEM").with_source(problem))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots
            .add(certificate)
            .map_err(|problem| unusable("one of them is damaged").with_source(problem))?;
    }
    if roots.is_empty() {
        return Err(unusable("it holds none at all"));
    }
    Ok(roots)
}

fn from_system() -> Result<RootCertStore, Error> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(misconfigured(
            Operation::Open,
            "the system trusts no certificates, so no server can be verified; install them (the \
             package is often named ca-certificates), or give a file to `with_ca_file`",
        ));
    }
    Ok(roots)
}
