//! TLS connections, as the address asks for them.

mod options;
mod verifier;
use std::error::Error as StdError;
use std::fs;
use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;

pub(crate) use crate::postgres::connect::tls::options::TlsOptions;
use crate::postgres::connect::tls::options::{TlsMode, TlsRoots};
use crate::postgres::connect::tls::verifier::{AnyServer, KnownAuthority};

/// CA bundles of the systems we know.
const SYSTEM_ROOTS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The TLS configuration. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) mode: SslMode,
    config: Arc<ClientConfig>,
    /// The CA file to name when the server's certificate has another issuer.
    roots: Option<PathBuf>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("mode", &self.mode).field("roots", &self.roots).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the files the options name; errors include their path.
    pub(crate) fn new(options: &TlsOptions) -> Result<Self, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let (verifier, roots) = verifier(options, &provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS cannot be set up: {error}"))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &options.identity {
            Some(identity) => {
                let (chain, key) = (certificates(&identity.certificate)?, private_key(&identity.key)?);
                let of = |error| format!("{} cannot be used: {error}", identity.certificate.display());
                builder.with_client_auth_cert(chain, key).map_err(of)?
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Self { mode: options.mode.for_driver(), config: Arc::new(config), roots })
    }

    /// The message, if the connection failed because of TLS; a retry would fail the same way.
    pub(crate) fn fault(&self, error: &tokio_postgres::Error, host: &str) -> Option<String> {
        let mut cause: Option<&(dyn StdError + 'static)> = error.source();
        while let Some(found) = cause {
            // The driver has no type for a server without TLS.
            if found.to_string() == "server does not support TLS" {
                return Some(format!(
                    "{host} does not offer TLS, and sslmode asks for it; switch it on there (ssl = on), or leave \
                     sslmode out where the network between is safe"
                ));
            }
            let inner = found.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            let inner = inner.map(|inner| inner as &(dyn StdError + 'static));
            if let Some(rustls) = inner.unwrap_or(found).downcast_ref::<rustls::Error>() {
                return Some(self.describe(rustls, host));
            }
            cause = found.source();
        }
        None
    }

    fn describe(&self, error: &rustls::Error, host: &str) -> String {
        let authority = self
            .roots
            .as_ref()
            .map_or_else(|| "a trusted CA".to_owned(), |path| format!("the CA in {}", path.display()));
        match error {
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                format!("the certificate of {host} is not signed by {authority}; check sslrootcert")
            }
            rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => format!(
                "the certificate of {host} is for another name; use the name it was made for, or sslmode=verify-ca \
                 where the name does not matter"
            ),
            rustls::Error::InvalidCertificate(
                CertificateError::Expired | CertificateError::ExpiredContext { .. },
            ) => format!("the certificate of {host} has expired"),
            other => format!("the TLS handshake with {host} failed: {other}"),
        }
    }
}

type Verifier = (Arc<dyn ServerCertVerifier>, Option<PathBuf>);

fn verifier(options: &TlsOptions, provider: &Arc<CryptoProvider>) -> Result<Verifier, String> {
    let Some((roots, needs_name)) = options.verification()? else {
        return Ok((Arc::new(AnyServer::new(provider)), None));
    };
    let path = match roots {
        TlsRoots::File(path) => path,
        TlsRoots::System => system_roots()?,
    };
    let mut store = RootCertStore::empty();
    for certificate in certificates(&path)? {
        // A system bundle may contain certificates we cannot use; an unusable bundle is detected below.
        let _ = store.add(certificate);
    }
    if store.is_empty() {
        return Err(format!("{} contains no usable CA certificate", path.display()));
    }
    let verifier = KnownAuthority::new(store, provider, needs_name)
        .map_err(|error| format!("{} cannot be used: {error}", path.display()))?;
    Ok((Arc::new(verifier), Some(path)))
}

fn system_roots() -> Result<PathBuf, String> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let mut known = named.into_iter().chain(SYSTEM_ROOTS.map(PathBuf::from));
    known.find(|path| path.is_file()).ok_or_else(|| {
        "the system's authorities are not where they are looked for; name them with sslrootcert=FILE"
            .to_owned()
    })
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{} cannot be read: {error}", path.display());
    let found: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).map_err(|error| failed(&error))?.collect();
    let found = found.map_err(|error| failed(&error))?;
    if found.is_empty() { Err(format!("{} contains no certificate", path.display())) } else { Ok(found) }
}

/// A key file others can read is refused, as libpq does.
fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{} cannot be read: {error}", path.display());
    let mode = fs::metadata(path).map_err(|error| failed(&error))?.permissions().mode();
    if mode & 0o077 != 0 {
        let path = path.display();
        return Err(format!("{path} is readable by others; fix it with: chmod 600 {path}"));
    }
    PrivateKeyDer::from_pem_file(path).map_err(|error| failed(&error))
}

/// A pending TLS handshake.
pub(crate) struct TlsHandshake {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = TlsSocket;
    type TlsConnect = TlsHandshake;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<TlsHandshake, Self::Error> {
        // Unix sockets have no host name; the driver asks all the same.
        let name = if domain.is_empty() { "localhost" } else { domain };
        Ok(TlsHandshake { config: Arc::clone(&self.config), name: ServerName::try_from(name.to_owned())? })
    }
}

impl TlsConnect<Socket> for TlsHandshake {
    type Stream = TlsSocket;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TlsSocket>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        let connecting = TlsConnector::from(self.config).connect(self.name, stream);
        Box::pin(async move { Ok(TlsSocket(Box::new(connecting.await?))) })
    }
}

/// An encrypted connection.
pub(crate) struct TlsSocket(Box<client::TlsStream<Socket>>);

impl TlsStream for TlsSocket {
    /// No channel binding: the certificate is verified where that was asked for.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for TlsSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(context, into)
    }
}

impl AsyncWrite for TlsSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(context)
    }
}

impl TlsMode {
    /// What the driver has to know: whether TLS is required. We verify the certificate.
    fn for_driver(self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => SslMode::Require,
        }
    }
}
