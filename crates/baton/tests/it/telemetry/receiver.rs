//! A small HTTP server, plain or with TLS, that accepts every request and passes it to the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Inbox, Sender, channel};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// One request.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// Such as `POST /v1/traces HTTP/1.1`.
    pub(crate) line: String,
    /// In lower case.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Receiver {
    /// Without a path.
    pub(crate) url: String,
    inbox: Inbox<Delivery>,
}

/// A certificate authority, and a certificate for `localhost` that it signed.
pub(crate) struct Authority(TempDir);

impl Authority {
    pub(crate) fn new() -> Self {
        let authority = Self(tempfile::tempdir().unwrap());
        authority.certificate("root", &["-addext", "basicConstraints=critical,CA:TRUE"]);
        let signed = ["-CA", "root.crt", "-CAkey", "root.key", "-addext", "basicConstraints=CA:FALSE"];
        authority
            .certificate("server", &[&signed[..], &["-addext", "subjectAltName=DNS:localhost"]].concat());
        authority
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The certificate to trust.
    pub(crate) fn root(&self) -> String {
        self.file("root.crt").display().to_string()
    }

    /// Writes `NAME.key` and `NAME.crt`, valid for a day.
    fn certificate(&self, name: &str, more: &[&str]) {
        let (key, out, subject) = (format!("{name}.key"), format!("{name}.crt"), format!("/CN={name}"));
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        command.args(["-days", "1", "-keyout", &key, "-out", &out, "-subj", &subject]).args(more);
        let made = command.current_dir(self.0.path()).output().expect("openssl is installed");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    fn server_config(&self) -> Arc<ServerConfig> {
        let chain = vec![CertificateDer::from_pem_file(self.file("server.crt")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(self.file("server.key")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap())
    }
}

impl Receiver {
    pub(crate) fn http() -> Self {
        Self::start("http://127.0.0.1", |stream, sender| serve(stream, &sender))
    }

    pub(crate) fn https(authority: &Authority) -> Self {
        let config = authority.server_config();
        Self::start("https://localhost", move |stream, sender| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            serve(StreamOwned::new(connection, stream), &sender);
        })
    }

    fn start(address: &str, serve: impl Fn(TcpStream, Sender<Delivery>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{address}:{}", listener.local_addr().unwrap().port());
        let (sender, inbox) = channel();
        let serve = Arc::new(serve);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (serve, sender) = (Arc::clone(&serve), sender.clone());
                std::thread::spawn(move || serve(stream, sender));
            }
        });
        Self { url, inbox }
    }

    /// Waits for the next request.
    pub(crate) fn next(&self) -> Delivery {
        self.inbox.recv_timeout(PATIENCE).expect("a request comes")
    }

    /// The requests so far that were not read yet.
    pub(crate) fn taken(&self) -> Vec<Delivery> {
        self.inbox.try_iter().collect()
    }
}

/// Accepts requests until the client closes the connection.
fn serve(stream: impl Read + Write, sender: &Sender<Delivery>) {
    let mut reader = BufReader::new(stream);
    while let Some(delivery) = read(&mut reader) {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        if sender.send(delivery).is_err() || reader.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
        if reader.get_mut().flush().is_err() {
            return;
        }
    }
}

/// None at the end of the connection.
fn read(reader: &mut impl BufRead) -> Option<Delivery> {
    let line = read_line(reader).filter(|line| !line.is_empty())?;
    let mut headers = Vec::new();
    loop {
        match read_line(reader)? {
            blank if blank.is_empty() => break,
            header => headers.push(header.to_ascii_lowercase()),
        }
    }
    let len = headers.iter().find_map(|header| header.strip_prefix("content-length:"));
    let mut body = vec![0; len.map_or(0, |len| len.trim().parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Delivery { line, headers, body })
}

fn read_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    Some(line.trim_end().to_owned())
}
