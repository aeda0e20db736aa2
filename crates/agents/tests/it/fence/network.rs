//! What a fenced program reaches.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use baton_agents::fence::ForwardedPort;
use baton_agents::fence::proxy::{NetworkRefusal, Proxy};
use baton_agents::fence::relay::Relay;
use baton_core::task::fence::NetworkMode;

use crate::bench::run;
use crate::fence::Yard;

/// A server that answers every request with `hello` and its request line.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 2000];
            let size = stream.read(&mut head).unwrap_or(0);
            let line = String::from_utf8_lossy(&head[..size]).lines().next().unwrap_or_default().to_owned();
            let body = format!("hello {line}");
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    address
}

#[tokio::test]
async fn none_reaches_nothing() {
    let Some(yard) = Yard::new() else { return };
    let server = serve();
    let script = format!("curl -s -m 5 http://{server}/ || echo no; curl -s -m 5 http://1.1.1.1/ || echo no");
    let ran = run(yard.launch(&yard.request(NetworkMode::None), &script)).await;
    assert_eq!(ran.ended.reported.output.trim(), "no\nno");
    let ran = run(yard.launch(&yard.request(NetworkMode::Open), &script)).await;
    assert!(ran.ended.reported.output.starts_with("hello GET / HTTP/1.1"), "{}", ran.ended.reported.output);
}

#[tokio::test]
async fn allow_reaches_the_named_hosts_and_reports_the_others() {
    let Some(yard) = Yard::new() else { return };
    let server = serve();
    let port = server.port();
    let refusals: Arc<Mutex<Vec<NetworkRefusal>>> = Arc::default();
    let noted = Arc::clone(&refusals);
    let socket = yard.path("proxy.sock");
    let allow = vec![format!("localhost:{port}").parse().unwrap(), "*.example.org".parse().unwrap()];
    let _proxy =
        Proxy::open(&socket, allow, Arc::new(move |refusal| noted.lock().unwrap().push(refusal))).unwrap();
    let mut request = yard.request(NetworkMode::Allow);
    request.forward = vec![ForwardedPort { port: 3128, socket }];
    request.proxy_port = Some(3128);
    let script = format!(
        r#"
        export NO_PROXY= no_proxy=
        curl -s -m 5 http://localhost:{port}/plain; echo
        curl -s -m 5 -p http://localhost:{port}/tunnel; echo
        for host in 127.0.0.1:{port} 2130706433:{port} 0x7f000001:{port} evil.net [::1]:{port} localhost:22 1.1.1.1 169.254.169.254; do
            curl -s -m 5 -o /dev/null -w '%{{http_code}} ' "http://$host/"
        done
        curl -s -m 5 --noproxy '*' http://localhost:{port}/ || echo direct: no
        curl -s -m 5 -H 'Host: evil.net' http://localhost:{port}/host; echo
        "#
    );
    let ran = run(yard.launch(&request, &script)).await;
    let output = ran.ended.reported.output;
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(
        lines[..2],
        ["hello GET /plain HTTP/1.1", "hello GET /tunnel HTTP/1.1"],
        "{output}\n{}",
        yard.bench.log()
    );
    assert!(
        lines[2]
            .split(' ')
            .filter(|code| code.parse::<u16>().is_ok())
            .all(|code| code == "403" || code == "000"),
        "{output}"
    );
    assert!(output.contains("direct: no") && output.contains("hello GET /host"), "{output}");
    let hosts: Vec<String> = refusals.lock().unwrap().iter().map(|refusal| refusal.host.clone()).collect();
    for host in [
        format!("127.0.0.1:{port}"),
        "evil.net:80".to_owned(),
        "localhost:22".to_owned(),
        "1.1.1.1:80".to_owned(),
    ] {
        assert!(hosts.contains(&host), "{host} is not among {hosts:?}");
    }
}

#[tokio::test]
async fn the_relay_names_the_attempt_behind_a_connection() {
    // I19
    let Some(yard) = Yard::new() else { return };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let socket = yard.path("tools.sock");
    let _relay = Relay::open(&socket, server, yard.bench.attempt).unwrap();
    let mut request = yard.request(NetworkMode::None);
    request.forward = vec![ForwardedPort { port: server.port(), socket }];
    let launch = yard.launch(&request, &format!("curl -s -m 20 http://{server}/tools"));
    let accepting = async {
        let (mut stream, peer) = listener.accept().await.unwrap();
        let attempt = baton_agents::process::peer::attempt_of_peer(stream.local_addr().unwrap(), peer);
        let mut head = [0; 1000];
        tokio::io::AsyncReadExt::read(&mut stream, &mut head).await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
        tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await.unwrap();
        attempt
    };
    let (ran, attempt) = tokio::join!(run(launch), accepting);
    assert_eq!((attempt, ran.ended.reported.output.trim()), (Some(yard.bench.attempt), "ok"));
}
