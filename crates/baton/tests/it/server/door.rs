//! Who is let in.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::client::{connect, send};
use super::place::Place;
use super::websocket::Socket;

fn asked(place: &Place, headers: &[(&str, &str)]) -> (u16, String) {
    let answer = send(&place.address, "GET", "/api/task-groups", headers, None);
    if answer.status == 200 { (200, String::new()) } else { answer.error() }
}

#[test]
fn a_foreign_host_and_a_foreign_origin_are_refused() {
    let place = Place::without_agents().start();
    let forbidden = (403, "FORBIDDEN".to_owned());
    let port = place.address.rsplit(':').next().unwrap();
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1.nip.io", "192.168.0.1"] {
        assert_eq!(asked(&place, &[("Host", host)]), forbidden, "{host}");
    }
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        assert_eq!(asked(&place, &[("Host", &host)]).0, 200, "{host}");
    }
    for origin in ["http://evil.example", "null", "http://localhost:1", &format!("http://localhost:{port}")] {
        assert_eq!(asked(&place, &[("Origin", origin)]), forbidden, "{origin}, while the Host is 127.0.0.1");
    }
    assert_eq!(asked(&place, &[("Origin", &format!("http://{}", place.address))]).0, 200);
}

#[test]
fn a_server_for_others_wants_its_token_everywhere_and_tells_it_nobody() {
    let mut place = Place::without_agents();
    place.up(&["--listen", "0.0.0.0:0"]);
    let file = place.folder.join(".agent/state/test.server.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let token = kept["token"].as_str().unwrap().to_owned();
    assert_eq!(kept["url"], format!("http://{}", place.address));
    let unauthorized = (401, "UNAUTHORIZED".to_owned());
    for path in
        ["/api/task-groups", "/api/health", "/metrics", "/api/events", "/api/openapi.json", "/nowhere"]
    {
        assert_eq!(send(&place.address, "GET", path, &[], None).error(), unauthorized, "{path}");
    }
    for wrong in ["Bearer wrong", &format!("Basic {token}"), "Bearer ", &format!("Bearer {token}x")] {
        assert_eq!(asked(&place, &[("Authorization", wrong)]), unauthorized);
    }
    let bearer = format!("Bearer {token}");
    assert_eq!(asked(&place, &[("Authorization", &bearer)]).0, 200);
    // A page of somebody else's may not use it even so.
    let foreign = [("Authorization", bearer.as_str()), ("Origin", "http://evil.example")];
    assert_eq!(asked(&place, &foreign), (403, "FORBIDDEN".to_owned()));
    let said = place.stop();
    assert!(said.contains("Clients must send the token in"), "{said}");
    assert!(!said.contains(&token), "the token is in no log");
}

/// What `POST /api/login` told the browser to keep, as it sends it back.
fn logged_in(place: &Place, token: &str) -> Result<(String, String), (u16, String)> {
    let body = format!("{{\"token\": \"{token}\"}}");
    let answer = send(&place.address, "POST", "/api/login", &[], Some(body.as_bytes()));
    let set: Option<String> =
        answer.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).map(str::to_owned);
    match (answer.status, set) {
        (200, Some(set)) => Ok((set.split(';').next().unwrap().to_owned(), set)),
        _ => Err(answer.error()),
    }
}

#[test]
fn a_browser_shows_the_token_once_and_is_known_by_its_cookie() {
    let token = "correct-horse-battery";
    let mut place = Place::without_agents();
    place.up(&["--listen", "0.0.0.0:0", "--token", token]);
    let unauthorized = (401, "UNAUTHORIZED".to_owned());
    assert_eq!(logged_in(&place, "wrong-horse-battery").unwrap_err(), unauthorized);
    let (cookie, set) = logged_in(&place, token).unwrap();
    assert!(set.contains("httponly") && set.contains("samesite=strict") && set.contains("path=/"), "{set}");
    assert!(!set.contains("horse"), "the token is not in it: {set}");
    assert_eq!(asked(&place, &[("Cookie", &cookie)]).0, 200);
    assert_eq!(asked(&place, &[("Cookie", &format!("theme=dark; {cookie}"))]).0, 200);
    assert_eq!(asked(&place, &[("Cookie", &cookie[..cookie.len() - 1])]), unauthorized);
    // A page of somebody else's may not use it even so.
    let foreign = [("Cookie", cookie.as_str()), ("Origin", "http://evil.example")];
    assert_eq!(asked(&place, &foreign), (403, "FORBIDDEN".to_owned()));
    // A stream of events and a socket are let in by it too, which cannot bring a header of their own.
    let mut stream = connect(&place.address);
    let request = format!("GET /api/events HTTP/1.1\r\nhost: {}\r\ncookie: {cookie}\r\n\r\n", place.address);
    stream.write_all(request.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut socket = Socket::open_with(&place.address, &format!("cookie: {cookie}\r\n"));
    assert_eq!(socket.next().unwrap()["type"], "hello");
    socket.send(&json!({ "type": "connect" }));
    assert_eq!(socket.next().unwrap()["type"], "connected");
    let gone = send(&place.address, "DELETE", "/api/login", &[("Cookie", &cookie)], None);
    assert!(gone.status == 200 && gone.head.contains("max-age=0"), "{gone:?}");
    assert!(!place.stop().contains(cookie.split('=').nth(1).unwrap()), "the cookie is in no log");
}

#[test]
fn a_token_that_is_given_is_wanted_on_loopback_too() {
    let mut place = Place::without_agents();
    place.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    assert_eq!(asked(&place, &[]), (401, "UNAUTHORIZED".to_owned()));
    assert_eq!(asked(&place, &[("Authorization", "Bearer correct-horse-battery")]).0, 200);
    let said = place.stop();
    assert!(!said.contains("correct-horse"), "{said}");
    let short = place.command().args(["up", "--listen", "127.0.0.1:0", "--token", "short"]).output().unwrap();
    assert_eq!(short.status.code(), Some(2));
}

#[test]
fn a_port_that_is_taken_is_named_with_what_to_do() {
    let place = Place::without_agents().start();
    let other = Place::without_agents();
    let output = other.command().args(["up", "--listen", &place.address]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("cannot listen on {}", place.address)), "{said}");
    assert!(said.contains("baton up --listen 127.0.0.1:0"), "{said}");
}

#[test]
fn a_silent_client_does_not_hold_up_the_end() {
    let mut place = Place::without_agents().start();
    let silent = connect(&place.address);
    assert_eq!(place.get("/api/health").status, 200);
    place.stop();
    drop(silent);
}
