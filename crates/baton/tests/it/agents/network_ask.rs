//! `network_ask = true`: a host that the fence refused becomes a question to the person, and what they say holds.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use serde_json::json;

use crate::engine::test_repo::TestRepo;

/// A server that welcomes whoever reaches it.
fn welcoming() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nwelcome");
        }
    });
    address
}

/// An agent that works if it reaches the server, and says so otherwise.
fn repo(server: SocketAddr) -> TestRepo {
    let agent = format!(
        "curl -s --noproxy '' -x \"$http_proxy\" http://{server}/ > /tmp/got || true\n\
         if grep -q welcome /tmp/got; then work; else echo 'I could not reach it.'; fi"
    );
    // The keys of an agent come last in the file.
    let mut repo = TestRepo::with_agent(&agent, "");
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{settings}network = \"allow\"\nnetwork_ask = true\n")).unwrap();
    repo.variables.push(("BATON_FENCE".to_owned(), "strict".to_owned()));
    repo
}

fn until_asked(repo: &TestRepo, task: &str, about: &str) {
    repo.until(about, || {
        let text = repo.show(task)["question"]["text"].clone();
        text.as_str().is_some_and(|text| text.contains(about))
    });
}

#[test]
fn a_refused_host_is_allowed_by_the_answer_and_not_asked_about_again() {
    let server = welcoming();
    let repo = repo(server);
    let task = repo.add("Fetch it", &[]);
    let up = repo.up();
    until_asked(&repo, &task, &format!("May the agent reach these hosts?\n\n- {server}\n"));
    assert_eq!(repo.show(&task)["question"]["options"], json!(["YES", "NO"]));
    repo.stdout(&["task", "reply", &task, "YES"]);
    repo.until_queue(&task, "provisional");
    // Another task has not got that word, and NO is not asked again either.
    let other = repo.add("Fetch it too", &[]);
    until_asked(&repo, &other, "May the agent reach these hosts?");
    repo.stdout(&["task", "reply", &other, "NO"]);
    until_asked(&repo, &other, "Is this answer enough");
    up.end();
}
