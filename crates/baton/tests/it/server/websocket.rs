//! A small WebSocket client: sends text frames, receives text and close frames.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::client::connect;

pub(crate) struct Socket {
    stream: BufReader<TcpStream>,
    /// The code of the server's close frame.
    pub(crate) closed: Option<u16>,
}

impl Socket {
    /// After the HTTP handshake.
    pub(crate) fn open(address: &str) -> Self {
        Self::open_with(address, "")
    }

    /// The same with these header lines.
    pub(crate) fn open_with(address: &str, headers: &str) -> Self {
        let mut stream = connect(address);
        let request = format!(
            "GET /ws HTTP/1.1\r\nhost: {address}\r\nupgrade: websocket\r\nconnection: upgrade\r\n{headers}\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut status = String::new();
        stream.read_line(&mut status).unwrap();
        assert!(status.starts_with("HTTP/1.1 101"), "{status}");
        let mut line = status;
        while line.trim_end() != "" {
            line.clear();
            stream.read_line(&mut line).unwrap();
        }
        Self { stream, closed: None }
    }

    /// After `hello`, `connect` and `connected`.
    pub(crate) fn connected(address: &str) -> Self {
        let mut socket = Self::open(address);
        assert_eq!(socket.next().unwrap()["type"], "hello");
        socket.send(&json!({ "type": "connect" }));
        assert_eq!(socket.next().unwrap()["type"], "connected");
        socket
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.stream.get_ref()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        // A client's frames are masked; a mask of zeros changes nothing.
        let mut frame = vec![0x81];
        match u8::try_from(bytes.len()) {
            Ok(len) if len < 126 => frame.push(0x80 | len),
            _ => {
                frame.push(0x80 | 0x7e);
                frame.extend(u16::try_from(bytes.len()).unwrap().to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(bytes);
        // A closed connection is noticed when the response is read.
        let _ = self.stream.get_mut().write_all(&frame);
    }

    /// Sends a request and waits for its response, skipping other messages.
    pub(crate) fn ask(&mut self, mut message: Value) -> Value {
        message["request_id"] = json!("mine");
        self.send(&message);
        self.find(|answer| answer["request_id"] == "mine").unwrap()
    }

    fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head).ok()?;
        let len = match head[1] {
            126 => {
                let mut len = [0; 2];
                self.stream.read_exact(&mut len).ok()?;
                u64::from(u16::from_be_bytes(len))
            }
            127 => {
                let mut len = [0; 8];
                self.stream.read_exact(&mut len).ok()?;
                u64::from_be_bytes(len)
            }
            len => u64::from(len),
        };
        let mut body = vec![0; usize::try_from(len).unwrap()];
        self.stream.read_exact(&mut body).ok()?;
        Some((head[0] & 0x0f, body))
    }
}

impl Iterator for Socket {
    type Item = Value;

    /// The next message; none at the end of the connection.
    fn next(&mut self) -> Option<Value> {
        loop {
            let (kind, body) = self.frame()?;
            match kind {
                1 => return Some(serde_json::from_slice(&body).unwrap()),
                8 => {
                    self.closed = Some(u16::from_be_bytes([body[0], body[1]]));
                    return None;
                }
                _ => {}
            }
        }
    }
}
