//! The one HTTP client, for webhooks and traces: http and https, with the certificates the system trusts.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, Client};
use rustls::crypto::ring;

/// A client that gives a request this long, from connecting to the end of the response. `extra_root` names a PEM file
/// with certificates to trust in addition to the system's.
///
/// Loads the system's certificates, so build one only when there is something to send.
pub fn build(timeout: Duration, extra_root: Option<&Path>) -> Result<Client, String> {
    // Fails if a provider is installed already, which is fine.
    let _ = ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("baton/", env!("CARGO_PKG_VERSION")))
        // Following a redirect could send a POST to an unintended address.
        .redirect(Policy::none())
        // Requests are seconds or days apart; a connection kept that long may be dead.
        .pool_max_idle_per_host(0)
        .timeout(timeout);
    if let Some(path) = extra_root {
        let failed = |error: &dyn Error| format!("cannot read certificates from {}: {error}", path.display());
        let pem = std::fs::read(path).map_err(|error| failed(&error))?;
        for root in Certificate::from_pem_bundle(&pem).map_err(|error| failed(&error))? {
            builder = builder.add_root_certificate(root);
        }
    }
    builder.build().map_err(|error| describe(&error))
}

/// The error with all its causes; the outermost alone only says that a request failed.
pub fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
