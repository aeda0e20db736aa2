//! A small HTTP/1.1 server for clients of a model.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// Larger than any prompt of a test.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
const HEAD_BYTES_MAX: usize = 64 * 1024;

pub(crate) struct Request {
    /// With the query.
    pub(crate) path: String,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn read(stream: &mut TcpStream) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let head_end = loop {
            if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            more(stream, &mut bytes, HEAD_BYTES_MAX)?;
        };
        let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
        let mut rest = bytes.split_off(head_end);
        let header = |name: &str| {
            head.lines().find_map(|line| {
                let (found, value) = line.split_once(':')?;
                found.eq_ignore_ascii_case(name).then(|| value.trim().to_ascii_lowercase())
            })
        };
        let body = if header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            chunked(stream, rest)?
        } else {
            let length = header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
            while rest.len() < length {
                more(stream, &mut rest, BODY_BYTES_MAX)?;
            }
            rest
        };
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        Ok(Self { path, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
    }
}

fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, bytes_max: usize) -> io::Result<()> {
    let mut chunk = [0; 16 * 1024];
    let count = stream.read(&mut chunk)?;
    if count == 0 || bytes.len() + count > bytes_max {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.extend_from_slice(&chunk[..count]);
    Ok(())
}

fn chunked(stream: &mut TcpStream, mut rest: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else {
            more(stream, &mut rest, BODY_BYTES_MAX)?;
            continue;
        };
        let size = String::from_utf8_lossy(&rest[..end]).into_owned();
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
        while rest.len() < end + 2 + size + 2 {
            more(stream, &mut rest, BODY_BYTES_MAX)?;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest.drain(..end + 2 + size + 2);
        if size == 0 {
            return Ok(body);
        }
    }
}

pub(crate) fn answer(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} Scripted\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n"
    )?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    write!(stream, "Connection: close\r\n\r\n{body}")?;
    stream.flush()
}

/// Writes the events one by one, like a model.
pub(crate) fn stream(stream: &mut TcpStream, events: &[String]) -> io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    for event in events {
        stream.write_all(event.as_bytes())?;
        stream.flush()?;
    }
    Ok(())
}
