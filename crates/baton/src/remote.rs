//! The tools of a running server, over its small API. One request a call; the server is on this machine.

use std::time::Duration;

use baton_server::mcp::{Caller, ToolAnswer, ToolSpec, Tools};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::fault::Fault;

/// An answer larger than this is none of ours.
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// How often it is looked whether other tools are on offer.
const LOOK_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub struct Remote {
    authority: String,
    token: Option<String>,
}

impl Remote {
    /// `http://127.0.0.1:5678`
    pub fn new(url: &str, token: Option<String>) -> Result<Self, Fault> {
        let authority = url.strip_prefix("http://").filter(|rest| !rest.is_empty() && !rest.contains('/'));
        let authority = authority.ok_or_else(|| {
            Fault::usage(
                format!("\"{url}\" is not the address of a server"),
                "it looks like http://127.0.0.1:5678",
            )
        })?;
        let is_clean = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_clean(authority) || !token.as_deref().is_none_or(is_clean) {
            return Err(Fault::usage("the address or the token has a blank in it", "pass it on as it is"));
        }
        Ok(Self { authority: authority.to_owned(), token })
    }

    pub async fn is_there(&self) -> bool {
        TcpStream::connect(&self.authority).await.is_ok()
    }

    async fn ask(&self, method: &str, path: &str, body: &str) -> Result<Value, String> {
        let answer = self.exchange(method, path, body).await;
        let answer =
            answer.map_err(|error| format!("the server at {} cannot be reached: {error}", self.authority))?;
        let garbled = || "the server's answer cannot be read".to_owned();
        let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(garbled)?;
        let body: Value = serde_json::from_str(body).map_err(|_| garbled())?;
        if head.split(' ').nth(1) == Some("200") {
            return Ok(body);
        }
        let said = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        Err(format!("{}\n{}", said("message"), said("hint")))
    }

    async fn exchange(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let token = self.token.as_ref().map(|token| format!("authorization: Bearer {token}\r\n"));
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n{}\
             content-length: {}\r\n\r\n{body}",
            self.authority,
            token.unwrap_or_default(),
            body.len()
        );
        let mut stream = TcpStream::connect(&self.authority).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer).await?;
        Ok(answer)
    }

    async fn offered(&self) -> Result<Vec<ToolSpec>, String> {
        let mut answer = self.ask("GET", "/api/tools", "").await?;
        serde_json::from_value(answer["tools"].take()).map_err(|error| error.to_string())
    }
}

impl Tools for Remote {
    /// A server that is gone offers nothing; a call says why.
    async fn list(&self, _: Option<Caller>) -> Vec<ToolSpec> {
        self.offered().await.unwrap_or_default()
    }

    async fn call(&self, _: Option<Caller>, name: &str, arguments: Option<Map<String, Value>>) -> ToolAnswer {
        // Names of ours are plain; any other is not there.
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            return ToolAnswer::bad(format!("there is no tool {name:?}"));
        }
        let body = json!(arguments.unwrap_or_default()).to_string();
        let answer = self.ask("POST", &format!("/api/tools/{name}"), &body).await;
        match answer.map(serde_json::from_value) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => ToolAnswer::bad(format!("the server's answer cannot be read: {error}")),
            Err(error) => ToolAnswer::bad(error),
        }
    }

    fn changes(&self, _: Option<Caller>) -> watch::Receiver<u64> {
        let (sender, receiver) = watch::channel(0);
        let remote = self.clone();
        tokio::spawn(async move {
            let mut before = None;
            loop {
                // A server that cannot be reached just now has not changed its tools.
                if let Ok(now) = remote.offered().await {
                    let is_first = before.is_none();
                    if before.as_ref() != Some(&now) {
                        before = Some(now);
                        if !is_first {
                            sender.send_modify(|count| *count += 1);
                        }
                    }
                }
                tokio::select! {
                    () = sender.closed() => return,
                    () = sleep(LOOK_EVERY) => {}
                }
            }
        });
        receiver
    }
}
