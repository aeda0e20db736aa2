//! Which requests are allowed: hosts, origins, tokens, cookies.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::{Value, json};

use super::client::{connect, send};
use super::test_server::TestServer;
use super::websocket::Socket;

fn asked(server: &TestServer, headers: &[(&str, &str)]) -> (u16, String) {
    let answer = send(&server.address, "GET", "/api/task-groups", headers, None);
    if answer.status == 200 { (200, String::new()) } else { answer.error() }
}

#[test]
fn a_foreign_host_and_a_foreign_origin_are_refused() {
    let server = TestServer::without_agents().start();
    let forbidden = (403, "FORBIDDEN".to_owned());
    let port = server.address.rsplit(':').next().unwrap();
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1.nip.io", "192.168.0.1"] {
        assert_eq!(asked(&server, &[("Host", host)]), forbidden, "{host}");
    }
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        assert_eq!(asked(&server, &[("Host", &host)]).0, 200, "{host}");
    }
    for origin in ["http://evil.example", "null", "http://localhost:1", &format!("http://localhost:{port}")] {
        assert_eq!(asked(&server, &[("Origin", origin)]), forbidden, "{origin}, while the Host is 127.0.0.1");
    }
    assert_eq!(asked(&server, &[("Origin", &format!("http://{}", server.address))]).0, 200);
}

#[test]
fn a_public_server_requires_its_token_everywhere_and_never_logs_it() {
    let mut server = TestServer::without_agents();
    server.up(&["--listen", "0.0.0.0:0"]);
    let file = server.folder.join(".agent/state/test.server.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let token = kept["token"].as_str().unwrap().to_owned();
    assert_eq!(kept["url"], format!("http://{}", server.address));
    let unauthorized = (401, "UNAUTHORIZED".to_owned());
    for path in
        ["/api/task-groups", "/api/health", "/metrics", "/api/events", "/api/openapi.json", "/nowhere"]
    {
        assert_eq!(send(&server.address, "GET", path, &[], None).error(), unauthorized, "{path}");
    }
    for wrong in ["Bearer wrong", &format!("Basic {token}"), "Bearer ", &format!("Bearer {token}x")] {
        assert_eq!(asked(&server, &[("Authorization", wrong)]), unauthorized);
    }
    let bearer = format!("Bearer {token}");
    assert_eq!(asked(&server, &[("Authorization", &bearer)]).0, 200);
    // Pages of other origins are refused even with it.
    let foreign = [("Authorization", bearer.as_str()), ("Origin", "http://evil.example")];
    assert_eq!(asked(&server, &foreign), (403, "FORBIDDEN".to_owned()));
    let printed = server.stop();
    assert!(printed.contains("Clients must send the token in"), "{printed}");
    assert!(!printed.contains(&token), "the token is in no log");
}

/// Logs in; returns the cookie as the browser sends it, and the whole header.
fn log_in(server: &TestServer, token: &str) -> Result<(String, String), (u16, String)> {
    let body = format!("{{\"token\": \"{token}\"}}");
    let answer = send(&server.address, "POST", "/api/login", &[], Some(body.as_bytes()));
    let set: Option<String> =
        answer.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).map(str::to_owned);
    match (answer.status, set) {
        (200, Some(set)) => Ok((set.split(';').next().unwrap().to_owned(), set)),
        _ => Err(answer.error()),
    }
}

#[test]
fn a_browser_logs_in_with_the_token_and_then_uses_its_cookie() {
    let token = "correct-horse-battery";
    let mut server = TestServer::without_agents();
    server.up(&["--listen", "0.0.0.0:0", "--token", token]);
    let unauthorized = (401, "UNAUTHORIZED".to_owned());
    assert_eq!(log_in(&server, "wrong-horse-battery").unwrap_err(), unauthorized);
    let (cookie, set) = log_in(&server, token).unwrap();
    assert!(set.contains("httponly") && set.contains("samesite=strict") && set.contains("path=/"), "{set}");
    assert!(!set.contains("horse"), "the token is not in it: {set}");
    assert_eq!(asked(&server, &[("Cookie", &cookie)]).0, 200);
    assert_eq!(asked(&server, &[("Cookie", &format!("theme=dark; {cookie}"))]).0, 200);
    assert_eq!(asked(&server, &[("Cookie", &cookie[..cookie.len() - 1])]), unauthorized);
    // Pages of other origins are refused even with it.
    let foreign = [("Cookie", cookie.as_str()), ("Origin", "http://evil.example")];
    assert_eq!(asked(&server, &foreign), (403, "FORBIDDEN".to_owned()));
    // Event streams and sockets, which cannot send the token in a header, are authorised by the cookie.
    let mut stream = connect(&server.address);
    let request = format!("GET /api/events HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\n\r\n", server.address);
    stream.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut socket = Socket::open_with(&server.address, &format!("cookie: {cookie}\r\n"));
    assert_eq!(socket.next().unwrap()["type"], "hello");
    socket.send(&json!({ "type": "connect" }));
    assert_eq!(socket.next().unwrap()["type"], "connected");
    let gone = send(&server.address, "DELETE", "/api/login", &[("Cookie", &cookie)], None);
    assert!(gone.status == 200 && gone.head.contains("max-age=0"), "{gone:?}");
    assert!(!server.stop().contains(cookie.split('=').nth(1).unwrap()), "the cookie is in no log");
}

#[test]
fn a_given_token_is_required_on_loopback_too() {
    let mut server = TestServer::without_agents();
    server.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    assert_eq!(asked(&server, &[]), (401, "UNAUTHORIZED".to_owned()));
    assert_eq!(asked(&server, &[("Authorization", "Bearer correct-horse-battery")]).0, 200);
    let printed = server.stop();
    assert!(!printed.contains("correct-horse"), "{printed}");
    let short =
        server.command().args(["up", "--listen", "127.0.0.1:0", "--token", "short"]).output().unwrap();
    assert_eq!(short.status.code(), Some(2));
}

#[test]
fn a_port_in_use_is_an_error_with_a_hint() {
    let server = TestServer::without_agents().start();
    let other = TestServer::without_agents();
    let output = other.command().args(["up", "--listen", &server.address]).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains(&format!("cannot listen on {}", server.address)), "{printed}");
    assert!(printed.contains("baton up --listen 127.0.0.1:0"), "{printed}");
}

#[test]
fn a_silent_client_does_not_delay_the_shutdown() {
    let mut server = TestServer::without_agents().start();
    let silent = connect(&server.address);
    assert_eq!(server.get("/api/health").status, 200);
    server.stop();
    drop(silent);
}

/// What another user of this machine is answered: the status. None where the tests do not run as root, who alone can be
/// another.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn status_for_other_user(server: &TestServer, arguments: &[&str]) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can be another user");
        return None;
    }
    let mut curl = Command::new("curl");
    curl.uid(65_534).gid(65_534).current_dir("/").args(["-s", "-m", "60", "-o", "/dev/null"]);
    let url = format!("http://{}/api/tasks", server.address);
    let output = curl.args(["-w", "%{http_code}"]).args(arguments).arg(url).output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn another_user_of_the_machine_needs_a_valid_token() {
    let server = TestServer::without_agents().start();
    let add = ["-H", "content-type: application/json", "-d", "{\"title\": \"X\"}"];
    let port = server.address.rsplit(':').next().unwrap();
    let cookie = format!("Cookie: baton_{port}=anything");
    for shown in ["X-A: b", "Authorization: Bearer anything", "Authorization: Basic eDp4", &cookie] {
        let Some(read) = status_for_other_user(&server, &["-H", shown]) else { return };
        assert_eq!(read, "401", "{shown}");
        let words = [add.as_slice(), &["-H", shown]].concat();
        assert_eq!(status_for_other_user(&server, &words).unwrap(), "401", "{shown}");
    }
    let made = server.post("/api/tokens", &json!({ "name": "ada", "role": "viewer" })).json();
    let shown = format!("Authorization: Bearer {}", made["token"].as_str().unwrap());
    assert_eq!(status_for_other_user(&server, &["-H", &shown]).unwrap(), "200");
    let words = [add.as_slice(), &["-H", &shown]].concat();
    assert_eq!(status_for_other_user(&server, &words).unwrap(), "403");
}
