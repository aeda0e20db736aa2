//! What a stranger sends to the server's port. Each request is refused, and the server answers the next one.

use std::io::{Read, Write};

use crate::server::client::{connect, send};
use crate::server::test_server::TestServer;

/// One request. `HOST` is replaced by the server's address, `LONG` by a text that is longer than any limit.
pub(super) struct ServerAttack {
    pub(super) name: &'static str,
    /// What it must not do.
    pub(super) promise: &'static str,
    request: &'static str,
}

const TOKEN: &str = "correct-horse-battery";

const REBINDING: &str = "reach the server by another name";
const FOREIGN: &str = "act for a page of another origin";
const SMUGGLING: &str = "hide a second request in the first";
const FILES: &str = "read a file that is not served";
const LIMITS: &str = "take more than its share";
const LOGIN: &str = "enter without a valid token";

const fn attack(name: &'static str, promise: &'static str, request: &'static str) -> ServerAttack {
    ServerAttack { name, promise, request }
}

/// `TOKEN` stands for a valid header: what is refused is refused to those who may enter, too.
#[rustfmt::skip]
pub(super) const SERVER_ATTACKS: &[ServerAttack] = &[
    attack("a foreign host", REBINDING, "GET /api/tasks HTTP/1.1\r\nHost: evil.example\r\nTOKEN"),
    attack("a name that resolves to loopback", REBINDING, "GET /api/tasks HTTP/1.1\r\nHost: 127.0.0.1.nip.io\r\nTOKEN"),
    attack("a host behind a user name", REBINDING, "GET /api/tasks HTTP/1.1\r\nHost: localhost@evil.example\r\nTOKEN"),
    attack("a subdomain of localhost's name", REBINDING, "GET /api/tasks HTTP/1.1\r\nHost: localhost.evil.example\r\nTOKEN"),
    attack("two hosts", REBINDING, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\nTOKEN"),
    attack("no host", REBINDING, "GET /api/tasks HTTP/1.1\r\nTOKEN"),
    attack("an empty host", REBINDING, "GET /api/tasks HTTP/1.1\r\nHost:\r\nTOKEN"),
    attack("an address of the network", REBINDING, "GET /api/tasks HTTP/1.1\r\nHost: 192.168.1.2\r\nTOKEN"),
    attack("a foreign origin", FOREIGN, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nOrigin: http://evil.example\r\nContent-Type: application/json\r\nContent-Length: 13\r\nTOKEN{\"title\":\"x\"}"),
    attack("no origin to speak of", FOREIGN, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nOrigin: null\r\nContent-Type: application/json\r\nContent-Length: 13\r\nTOKEN{\"title\":\"x\"}"),
    attack("another port of this machine", FOREIGN, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nOrigin: http://localhost:3000\r\nContent-Type: application/json\r\nContent-Length: 13\r\nTOKEN{\"title\":\"x\"}"),
    attack("a page from a file", FOREIGN, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nOrigin: file://\r\nContent-Type: application/json\r\nContent-Length: 13\r\nTOKEN{\"title\":\"x\"}"),
    attack("an origin that begins alike", FOREIGN, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nOrigin: http://HOST.evil.example\r\nContent-Type: application/json\r\nContent-Length: 13\r\nTOKEN{\"title\":\"x\"}"),
    attack("two origins", FOREIGN, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nOrigin: http://HOST\r\nOrigin: http://evil.example\r\nContent-Type: application/json\r\nContent-Length: 13\r\nTOKEN{\"title\":\"x\"}"),
    attack("a foreign form", FOREIGN, "POST /tasks/new HTTP/1.1\r\nHost: HOST\r\nOrigin: http://evil.example\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\nTOKENtitle=x"),
    attack("a form that pretends to be JSON", FOREIGN, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nContent-Type: text/plain\r\nContent-Length: 13\r\nTOKEN{\"title\":\"x\"}"),
    attack("a cross-site request without an origin", FOREIGN, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nContent-Type: application/json\r\nContent-Length: 13\r\nTOKEN{\"title\":\"x\"}"),
    attack("a foreign WebSocket", FOREIGN, "GET /ws HTTP/1.1\r\nHost: HOST\r\nOrigin: http://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nTOKEN"),
    attack("a foreign event stream", FOREIGN, "GET /api/events HTTP/1.1\r\nHost: HOST\r\nOrigin: http://evil.example\r\nTOKEN"),
    attack("two lengths", SMUGGLING, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\nContent-Length: 3\r\nTOKEN{}x"),
    attack("a length that is no number", SMUGGLING, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nContent-Length: +3\r\nTOKEN{} "),
    attack("an unknown transfer encoding", SMUGGLING, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: xchunked\r\nTOKEN0\r\n\r\n"),
    attack("a space before the colon", SMUGGLING, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding : chunked\r\nTOKEN0\r\n\r\n"),
    attack("a folded header", SMUGGLING, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nX-A: a\r\n b\r\nTOKEN"),
    attack("a chunk of no size", SMUGGLING, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTOKENzz\r\n{}\r\n0\r\n\r\n"),
    attack("a NUL in a header", SMUGGLING, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nX-A: a\0b\r\nTOKEN"),
    attack("a path out of the assets", FILES, "GET /assets/../../../../etc/passwd HTTP/1.1\r\nHost: HOST\r\nTOKEN"),
    attack("an encoded path out of the assets", FILES, "GET /assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd HTTP/1.1\r\nHost: HOST\r\nTOKEN"),
    attack("a path instead of a task", FILES, "GET /tasks/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: HOST\r\nTOKEN"),
    attack("a NUL in a path", FILES, "GET /assets/baton.css%00.js HTTP/1.1\r\nHost: HOST\r\nTOKEN"),
    attack("the store as a page", FILES, "GET /.agent/state/test.db HTTP/1.1\r\nHost: HOST\r\nTOKEN"),
    attack("a header without end", LIMITS, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nX-A: LONG\r\nTOKEN"),
    attack("a path without end", LIMITS, "GET /api/tasks?cursor=LONG HTTP/1.1\r\nHost: HOST\r\nTOKEN"),
    attack("a body that is said to be huge", LIMITS, "POST /api/tasks HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\nTOKEN"),
    attack("a method that echoes", LIMITS, "TRACE /api/tasks HTTP/1.1\r\nHost: HOST\r\nTOKEN"),
    attack("a method that tunnels", LIMITS, "CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\nTOKEN"),
    attack("no token", LOGIN, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\n\r\n"),
    attack("a wrong token", LOGIN, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer wrong-horse-battery\r\n\r\n"),
    attack("the beginning of the token", LOGIN, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer correct-horse\r\n\r\n"),
    attack("an empty token", LOGIN, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer \r\n\r\n"),
    attack("the token in the address", LOGIN, "GET /api/tasks?token=correct-horse-battery HTTP/1.1\r\nHost: HOST\r\n\r\n"),
    attack("the token as a password", LOGIN, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nAuthorization: Basic Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5Og==\r\n\r\n"),
    attack("the cookie of another server", LOGIN, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nCookie: baton_1=correct-horse-battery\r\n\r\n"),
    attack("the token as a cookie", LOGIN, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nCookie: baton_PORT=correct-horse-battery\r\n\r\n"),
    attack("an invented person's token", LOGIN, "GET /api/tasks HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer baton_00000000000000000000000000000000\r\n\r\n"),
];

#[test]
fn every_attack_on_the_server_is_refused() {
    let mut server = TestServer::without_agents();
    server.variables = vec![("BATON_SERVER_TOKEN".to_owned(), TOKEN.to_owned())];
    server.up(&["--listen", "127.0.0.1:0"]);
    let authorization = format!("Bearer {TOKEN}");
    let headers = [("Authorization", authorization.as_str())];
    let tasks = || send(&server.address, "GET", "/api/tasks", &headers, None);
    assert_eq!(tasks().status, 200, "who has the token is let in");
    let port = server.address.rsplit(':').next().unwrap();
    for attack in SERVER_ATTACKS {
        let request = attack
            .request
            .replace("TOKEN", &format!("Authorization: {authorization}\r\n\r\n"))
            .replace("HOST", &server.address)
            .replace("PORT", port)
            .replace("LONG", &"x".repeat(64 * 1024));
        let answer = answer_to(&server.address, &request);
        // Closing the connection without a word is a refusal, too.
        let status: Option<u16> = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        assert!(status.is_none_or(|status| (400..500).contains(&status)), "{}: {answer}", attack.name);
        assert!(!answer.contains("root:"), "{}: {answer}", attack.name);
    }
    let left = tasks();
    assert_eq!((left.status, left.json()["tasks"].as_array().map(Vec::len)), (200, Some(0)), "{left:?}");
    // It is what the attack is about that is refused: without it, the same requests are answered.
    for attack in SERVER_ATTACKS.iter().filter(|attack| [REBINDING, FOREIGN, LOGIN].contains(&attack.promise))
    {
        let answer = answer_to(&server.address, &attack.harmless(&server.address, &authorization));
        let status: Option<u16> = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        assert!(status.is_some_and(|status| status < 400), "{}: {answer}", attack.name);
    }
}

impl ServerAttack {
    /// The same request from a program of the person's.
    fn harmless(&self, address: &str, authorization: &str) -> String {
        let (head, body) = self.request.split_once("TOKEN").unwrap_or((self.request.trim_end(), ""));
        let names = ["host:", "origin:", "sec-fetch-", "authorization:", "cookie:"];
        let is_harmless = |line: &&str| {
            !line.is_empty() && !names.iter().any(|name| line.to_ascii_lowercase().starts_with(name))
        };
        let own = [format!("Host: {address}"), format!("Authorization: {authorization}")];
        let lines: Vec<&str> =
            head.split("\r\n").filter(is_harmless).chain(own.iter().map(String::as_str)).collect();
        let head = lines.join("\r\n").replace("text/plain", "application/json");
        format!("{}\r\n\r\n{body}", head.replace("?token=correct-horse-battery", ""))
    }
}

/// What the server answers before it closes the connection or waits for more.
fn answer_to(address: &str, request: &str) -> String {
    let mut stream = connect(address);
    // It may close before everything is sent.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}
