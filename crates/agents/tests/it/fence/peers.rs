//! Baton knows which attempt a connection comes from, whatever the process did to hide it (I19).

use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;

use baton_agents::process::peer::{PeerOwner, owner_of_peer};
use baton_core::base::id::AttemptId;
use baton_core::task::fence::NetworkMode;
use tokio::net::TcpListener;

use crate::bench::{Bench, run, wait_until};
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

/// An address of this machine by which others reach it.
fn own_address() -> Option<SocketAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Nothing is sent: the system only chooses where it would be sent from.
    socket.connect("203.0.113.1:9").ok()?;
    socket.local_addr().ok()
}

#[tokio::test]
async fn an_attempts_process_is_known_whatever_address_it_takes() {
    keep();
    let outer = own_address().map(|address| address.ip().to_string());
    for source in outer.into_iter().chain(["127.0.0.9".to_owned()]) {
        let bench = Bench::new();
        let (listener, url) = listener().await;
        let script = format!("curl -s -m 20 --interface {source} {url}");
        let owner = owner_of_connection(listener, bench.shell(&script)).await;
        assert_eq!(owner, PeerOwner::Attempt(bench.attempt), "{source}");
    }
}

/// Connects, hides the connection, says so in a file, and takes it out again when the other file is there.
const HIDER: &str = r#"
import ctypes, os, socket, sys, threading, time
how, port = sys.argv[1], int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)

def connect():
    return socket.create_connection(("127.0.0.1", port))

def hidden():
    open("hidden", "w").close()
    while not os.path.exists("seen"):
        time.sleep(0.02)

if how == "in flight":
    connection, (one, other) = connect(), socket.socketpair()
    socket.send_fds(one, [b"x"], [connection.fileno()])
    connection.close()
    hidden()
elif how == "in a call":
    connection = connect()
    threading.Thread(target=connection.recv, args=(1,), daemon=True).start()
    calls = lambda: [open(f"/proc/self/task/{id}/syscall").read() for id in os.listdir("/proc/self/task")]
    # recvfrom, by its number on x86-64 and elsewhere.
    while not any(call.startswith(("45 ", "207 ")) for call in calls()):
        time.sleep(0.02)
    os.close(connection.detach())
    hidden()
elif how == "in a thread":
    def work():
        assert libc.unshare(0x400) == 0  # CLONE_FILES
        connection = connect()
        hidden()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
elif how == "after its first thread":
    def work():
        connection = connect()
        while open("/proc/self/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
            time.sleep(0.02)
        hidden()
    threading.Thread(target=work).start()
    libc.pthread_exit(None)
elif how == "closed":
    connect().close()
    hidden()
"#;

/// Who a connection belongs to that an attempt hides in this way.
async fn owner_of_hidden(
    how: &str,
    bench: &Bench,
    launch: impl Fn(&str) -> baton_agents::driver::Launch,
) -> PeerOwner {
    let (listener, _) = listener().await;
    let worktree = bench.worktree();
    std::fs::write(worktree.join("hide.py"), HIDER).unwrap();
    let port = listener.local_addr().unwrap().port();
    let looking = async {
        let (stream, peer) = listener.accept().await.unwrap();
        let at = |name: &str| -> PathBuf { worktree.join(name) };
        let hidden = at("hidden");
        tokio::task::spawn_blocking(move || wait_until("the connection is hidden", || hidden.exists()))
            .await
            .unwrap();
        let owner = owner_of_peer(stream.local_addr().unwrap(), peer);
        std::fs::write(at("seen"), "").unwrap();
        owner
    };
    tokio::join!(run(launch(&format!("python3 hide.py '{how}' {port}"))), looking).1
}

#[tokio::test]
async fn a_connection_that_an_attempt_hides_is_nobodys() {
    keep();
    for how in ["in flight", "in a call", "in a thread", "after its first thread", "closed"] {
        let bench = Bench::new();
        let expected = match how {
            "in a thread" | "after its first thread" => PeerOwner::Attempt(bench.attempt),
            "closed" => PeerOwner::Gone,
            _ => PeerOwner::Unseen,
        };
        assert_eq!(owner_of_hidden(how, &bench, |script| bench.shell(script)).await, expected, "{how}");
    }
}

#[tokio::test]
async fn a_fence_hides_no_connection_either() {
    let Some(yard) = Yard::new() else { return };
    let request = yard.request(NetworkMode::Open);
    let owner = owner_of_hidden("in flight", &yard.bench, |script| yard.launch(&request, script)).await;
    assert_eq!(owner, PeerOwner::Unseen);
}
