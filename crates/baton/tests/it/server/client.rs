//! A small HTTP client: single requests, and streams of events.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_mins(2);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The status and the code of an error, which must have a message and a hint.
    pub(crate) fn error(&self) -> (u16, String) {
        let object = self.json();
        for key in ["message", "hint"] {
            assert!(object[key].as_str().is_some_and(|text| !text.trim().is_empty()), "{key}: {self:?}");
        }
        (self.status, object["error"].as_str().unwrap().to_owned())
    }
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Sends these bytes and reads to the end.
pub(crate) fn raw(address: &str, request: &[u8]) -> Answer {
    let mut stream = connect(address);
    // The server may respond and close before everything is sent.
    let sent = stream.write_all(request);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset && !answer.is_empty() => {}
        Err(error) => panic!("{error}, after sending: {sent:?}"),
    }
    parse(&answer)
}

fn parse(answer: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

/// One request, with JSON if there is a body.
pub(crate) fn send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<&[u8]>,
) -> Answer {
    let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        write!(request, "host: {address}\r\n").unwrap();
    }
    for (name, value) in headers {
        write!(request, "{name}: {value}\r\n").unwrap();
    }
    if let Some(body) = body {
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            request.push_str("content-type: application/json\r\n");
        }
        write!(request, "content-length: {}\r\n", body.len()).unwrap();
    }
    request.push_str("\r\n");
    let mut bytes = request.into_bytes();
    bytes.extend_from_slice(body.unwrap_or_default());
    raw(address, &bytes)
}

pub(crate) fn get(address: &str, path: &str) -> Answer {
    send(address, "GET", path, &[], None)
}

pub(crate) fn post(address: &str, path: &str, body: &Value) -> Answer {
    send(address, "POST", path, &[], Some(body.to_string().as_bytes()))
}

/// The events after a number, as they happen.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    pub(crate) fn after(address: &str, seq: u64) -> Self {
        let mut stream = connect(address);
        let request = format!(
            "GET /api/events HTTP/1.1\r\nhost: {address}\r\nlast-event-id: {seq}\r\naccept: text/event-stream\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        Self { lines: BufReader::new(stream) }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.lines.get_ref()
    }

    /// The next line; none at the end of the connection.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line),
        }
    }
}

impl Iterator for Events {
    type Item = Value;

    /// The next complete event. Other lines are ids, names, keep-alives and sizes of chunks.
    fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.line()?;
            if let Some(data) = line.strip_prefix("data: ") {
                // An event is complete only with its blank line.
                let blank = self.line()?;
                assert!(blank.trim().is_empty(), "{blank:?}");
                return Some(serde_json::from_str(data.trim_end()).unwrap());
            }
        }
    }
}
