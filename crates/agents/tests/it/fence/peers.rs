//! Baton knows which attempt a connection comes from, whatever the process did to hide it (I19).

use baton_agents::process::peer::{PeerOwner, owner_of_peer};
use baton_core::base::id::AttemptId;
use baton_core::task::fence::NetworkMode;
use tokio::net::TcpListener;

use crate::bench::{Bench, run};
use crate::fence::{Yard, keep};

/// The owner of the one connection that the launched program makes.
async fn owner_of_connection(listener: TcpListener, launch: baton_agents::driver::Launch) -> PeerOwner {
    let accepting = async {
        let (mut stream, peer) = listener.accept().await.unwrap();
        let owner = owner_of_peer(stream.local_addr().unwrap(), peer);
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await.unwrap();
        owner
    };
    tokio::join!(run(launch), accepting).1
}

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (listener, url)
}

#[tokio::test]
async fn an_attempts_process_is_known_by_its_tree() {
    keep();
    for disguise in [
        "curl -s -m 20 URL",
        "env -i PATH=$PATH curl -s -m 20 URL",
        "(setsid env -i PATH=$PATH sh -c 'curl -s -m 20 URL; touch done' </dev/null >/dev/null 2>&1 &) ; while [ ! -e done ]; do sleep 0.1; done",
        "env BATON_ATTEMPT_ID=ATT-00000000000000ff setsid curl -s -m 20 URL",
    ] {
        let bench = Bench::new();
        let (listener, url) = listener().await;
        let owner = owner_of_connection(listener, bench.shell(&disguise.replace("URL", &url))).await;
        assert_eq!(owner, PeerOwner::Attempt(bench.attempt), "{disguise}");
    }
}

#[tokio::test]
async fn a_fenced_process_is_known_too() {
    let Some(yard) = Yard::new() else { return };
    let (listener, url) = listener().await;
    let script = format!("setsid env -i PATH=$PATH curl -s -m 20 {url}");
    let launch = yard.launch(&yard.request(NetworkMode::Open), &script);
    assert_eq!(owner_of_connection(listener, launch).await, PeerOwner::Attempt(yard.bench.attempt));
}

#[tokio::test]
async fn a_persons_process_is_nobodys_attempt() {
    let (listener, url) = listener().await;
    let mut child = std::process::Command::new("curl").args(["-s", "-m", "20", &url]).spawn().unwrap();
    let (stream, peer) = listener.accept().await.unwrap();
    let owner = owner_of_peer(stream.local_addr().unwrap(), peer);
    assert_eq!(owner, PeerOwner::User(rustix::process::getuid().as_raw()));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn a_unix_socket_names_its_peer() {
    keep();
    let bench = Bench::new();
    let path = bench.path("person.sock");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let script = format!("env -i PATH=$PATH curl -s -m 5 --unix-socket '{}' http://x/", path.display());
    let accepting = async {
        let (stream, _) = listener.accept().await.unwrap();
        baton_agents::process::peer::attempt_of_unix_peer(&stream)
    };
    let (_, attempt) = tokio::join!(run(bench.shell(&script)), accepting);
    let expected: Option<AttemptId> = Some(bench.attempt);
    assert_eq!(attempt, expected);
}
