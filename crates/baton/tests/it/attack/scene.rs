//! A server with a victim at work and a home with secrets, and whoever attacks them: an agent, or a person.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::table::{ATTACKS, Attack, PRELUDE};
use crate::server::client::send;
use crate::server::test_server::TestServer;
use crate::wait;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);

pub(super) struct AttackScene {
    server: TestServer,
    outside: PathBuf,
    home: PathBuf,
    canary: String,
    /// The attempt that others must leave alone.
    victim: String,
    mark: SceneMark,
}

/// Tells the scenes of one machine apart.
struct SceneMark(u32);

impl SceneMark {
    fn next() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // Process ids have at most 22 bits.
        Self((std::process::id() << 8) | (NUMBER.fetch_add(1, Ordering::Relaxed) & 0xff))
    }

    /// How long the victim sleeps, which no other process of the machine does.
    fn seconds(&self) -> u64 {
        1_000_000 + u64::from(self.0)
    }

    fn abstract_name(&self) -> String {
        format!("baton-attack-{}", self.0)
    }
}

/// One shell script that tries these and names what succeeded.
fn script(variables: &[(&str, String)], attacks: impl Iterator<Item = &'static Attack>) -> String {
    let mut text = String::new();
    for (name, value) in variables {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name}='{value}'");
    }
    text.push_str(PRELUDE);
    for Attack { name, script, .. } in attacks {
        let _ = writeln!(text, "( {script}\n) >/dev/null 2>&1 </dev/null && echo \"WON {name}\"");
    }
    text.push_str("echo finished\n");
    text
}

/// A service of the person's, which does what anybody asks.
fn serve(listener: UnixListener) {
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
}

/// An address of this machine that is not loopback's, if it has any.
fn other_address() -> String {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Nothing is sent: the system only chooses where it would be sent from.
    let found = socket.connect("203.0.113.1:9").and_then(|()| socket.local_addr());
    found.map_or_else(|_| "127.0.0.9".to_owned(), |address| address.ip().to_string())
}

impl AttackScene {
    pub(super) fn new(mode: &str, network: &str) -> Self {
        let mark = SceneMark::next();
        let mut server = TestServer::new(&json!([]));
        let outside = server.folder.parent().unwrap().to_owned();
        let home = outside.join("home");
        for (file, text) in [
            (".ssh/id_ed25519", "KEY"),
            (".aws/credentials", "KEY"),
            (".bashrc", "PERSON"),
            (".config/x", ""),
            (".cargo/bin/tool", ""),
        ] {
            let file = home.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        fs::write(server.folder.join(".env"), "PASSWORD").unwrap();
        let taskfile = "version: '3'\ntasks:\n  hi:\n    desc: Says hi\n    cmd: echo hi\n";
        fs::write(server.folder.join(".agent/Taskfile.yml"), taskfile).unwrap();
        let settings = format!(
            "default_agent = \"evil\"\n[agents.evil]\nkind = \"command\"\ncommand = [\"sh\", \"{}\"]\n\
             fence = \"{mode}\"\nnetwork = \"{network}\"\n\
             [agents.victim]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"sleep {}\"]\nfence = \"off\"\n",
            outside.join("agent.sh").display(),
            mark.seconds()
        );
        fs::write(server.folder.join(".agent/baton.toml"), settings).unwrap();
        server.variables.push(("HOME".to_owned(), home.to_str().unwrap().to_owned()));
        serve(UnixListener::bind(home.join(".service.sock")).unwrap());
        let unnamed = SocketAddr::from_abstract_name(mark.abstract_name()).unwrap();
        serve(UnixListener::bind_addr(&unnamed).unwrap());
        let server = server.start();
        let task = json!({ "title": "Wait", "agent": "victim", "task_type": "READ_INFO" });
        let victim = server.post("/api/tasks", &task).json()["task_id"].as_str().unwrap().to_owned();
        let canary = format!("/tmp/baton-canary-{}", mark.0);
        let scene = Self { server, outside, home, canary, victim, mark };
        wait::until(PATIENCE, || scene.is_victim_at_work(), || "the victim is not at work".to_owned());
        scene
    }

    fn is_victim_at_work(&self) -> bool {
        let words = format!("sleep\0{}\0", self.mark.seconds());
        let commands = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
        commands.filter_map(|file| fs::read(file).ok()).any(|command| command == words.as_bytes())
            && self.server.task(&self.victim)["status"] == "RUNNING"
    }

    /// What the scripts are told beside what every agent knows.
    fn variables(&self) -> [(&'static str, String); 7] {
        let token = self.server.post("/api/tokens", &json!({ "name": "mia", "role": "operator" }));
        let token = token.json()["token"].as_str().map_or_else(String::new, str::to_owned);
        let body = json!({ "token": token }).to_string();
        let login = send(&self.server.address, "POST", "/api/login", &[], Some(body.as_bytes()));
        let cookie = login.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.and_then(|cookie| cookie.split(';').next()).unwrap_or_default().to_owned();
        [
            ("CANARY", self.canary.clone()),
            ("OUTSIDE", self.canary.clone()),
            ("VICTIM", self.mark.seconds().to_string()),
            ("ABSTRACT", self.mark.abstract_name()),
            ("OTHER_ADDRESS", other_address()),
            ("PERSON_TOKEN", token),
            ("PERSON_COOKIE", cookie),
        ]
    }

    /// Runs every attack as an agent. What succeeded, its task, and the events on that.
    pub(super) fn attack_as_agent(&self) -> (BTreeSet<String>, String, Value) {
        let agent = self.outside.join("agent.sh");
        fs::write(&agent, script(&self.variables(), ATTACKS.iter())).unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        let project = self.server.project();
        let request = json!({ "content": "Read the repository", "task_type": "READ_INFO" });
        let task = self.server.chat(&project, &request);
        let done = self.server.wait_for_status(&task, "COMPLETE");
        let events = self.server.read(&format!("/api/tasks/{task}/events"));
        assert!(self.is_victim_at_work(), "the victim goes on");
        (parse(done["output"].as_str().unwrap_or_default()), task, events)
    }

    /// Runs the same scripts as the person who runs the server, in a clone like an agent's.
    pub(super) fn attack_as_person(
        &self,
        task: &str,
        is_meant: impl Fn(&Attack) -> bool,
    ) -> BTreeSet<String> {
        let clone = self.outside.join("clone");
        self.server.git(&["clone", "-q", "--shared", ".", clone.to_str().unwrap()]);
        let attacks = ATTACKS.iter().filter(|attack| is_meant(attack));
        let state = self.server.folder.join(".agent/state");
        let output = Command::new("sh")
            .args(["-c", &script(&self.variables(), attacks)])
            .current_dir(&clone)
            .stdin(Stdio::null())
            .env("HOME", &self.home)
            .env("BATON_MCP_URL", format!("http://{}/mcp", self.server.address))
            .env("BATON_BIN", self.server.command().get_program())
            .envs([("BATON_TASK_ID", task), ("BATON_NAMESPACE", "test"), ("BATON_USER", "mia")])
            .envs([("BATON_ROOT", &self.server.folder), ("BATON_STATE_DIR", &state)])
            .output()
            .unwrap();
        fs::remove_dir_all(&clone).unwrap();
        parse(&String::from_utf8(output.stdout).unwrap())
    }

    /// Whether a file of the agent's came out into the machine's `/tmp`.
    pub(super) fn take_canary(&self) -> bool {
        fs::remove_file(&self.canary).is_ok()
    }
}

fn parse(output: &str) -> BTreeSet<String> {
    assert!(output.contains("finished"), "{output}");
    output.lines().filter_map(|line| line.strip_prefix("WON ")).map(str::to_owned).collect()
}
