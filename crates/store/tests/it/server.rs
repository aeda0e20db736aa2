//! A PostgreSQL server for the tests: the one named by `BATON_TEST_POSTGRES`, or one started here.
//!
//! Every test may be a separate process, so the server outlives the one that started it. Each user holds a shared
//! lock on a file; a watchdog, which is this same test program, stops the server once that lock has been free for a
//! while. As root, the server runs as another user, since it refuses to run as root.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// Set to use an existing server.
const ADDRESS: &str = "BATON_TEST_POSTGRES";
/// Set to the server's directory, for the watchdog.
const WATCHED: &str = "BATON_TEST_POSTGRES_WATCHED";
/// The watchdog's poll interval, and how many idle polls in a row stop the server.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const IDLE_LOOKS: u32 = 15;

/// Where the server's programs are and which user runs them.
#[derive(Clone)]
struct Programs {
    folder: PathBuf,
    user: Option<String>,
    /// The network namespace to run in; `None` for this process's own.
    network: Option<String>,
}

/// A server with its own data directory.
pub(crate) struct Server {
    programs: Programs,
    folder: PathBuf,
}

/// The address of the shared server, or why there is none.
pub(crate) fn shared() -> Result<String, String> {
    static SHARED: OnceLock<Result<String, String>> = OnceLock::new();
    SHARED.get_or_init(find_or_start).clone()
}

/// Runs a script as the owner of the shared server.
pub(crate) fn psql(script: &str) {
    let address = shared().expect("looked at before");
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", &address, "-f", "-"]).stdin(Stdio::piped());
    let mut child =
        psql.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("psql comes with PostgreSQL");
    child.stdin.take().expect("it is piped").write_all(script.as_bytes()).expect("psql reads it");
    let output = child.wait_with_output().expect("psql ends");
    assert!(output.status.success(), "{}\n{script}", String::from_utf8_lossy(&output.stderr));
}

/// Why PostgreSQL tests cannot run here; panics where they must.
pub(crate) fn missing() -> Option<String> {
    let reason = shared().err()?;
    let message = format!(
        "no PostgreSQL to test with: {reason}. Install it (apt-get install postgresql) or set {ADDRESS}"
    );
    assert_ne!(env::var("CI").as_deref(), Ok("true"), "{message}");
    Some(message)
}

fn find_or_start() -> Result<String, String> {
    /// Held until the process ends.
    static USING: OnceLock<File> = OnceLock::new();
    if let Ok(address) = env::var(ADDRESS) {
        return Ok(address);
    }
    let server = Server { programs: Programs::find()?, folder: shared_folder() };
    let _turn = lock(&turn_file());
    let using = File::create(users_file()).expect("a file in the target folder");
    using.lock_shared().expect("a lock on it");
    let _ = USING.set(using);
    if !server.is_up() {
        let _ = server.stop();
        server.remove();
        server.create();
        server.start();
        start_watchdog(&server.folder);
    }
    Ok(server.address())
}

#[expect(clippy::zombie_processes, reason = "it is to outlive this process")]
fn start_watchdog(folder: &Path) {
    // Each test program that includes this module does so under its own name.
    let (_, module) = module_path!().split_once("::").expect("a module of a test program");
    Command::new(env::current_exe().expect("our own program"))
        .args(["--exact", &format!("{module}::watchdog"), "--ignored"])
        .env(WATCHED, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .expect("the watchdog starts");
}

#[test]
#[ignore = "not a test: stops the shared server when nobody uses it any more"]
fn watchdog() {
    let Some(folder) = env::var_os(WATCHED) else { return };
    let server = Server { programs: Programs::find().expect("found before"), folder: folder.into() };
    let mut idle = 0;
    while idle < IDLE_LOOKS {
        std::thread::sleep(LOOK_EVERY);
        let _turn = lock(&turn_file());
        let is_free = File::create(users_file()).is_ok_and(|users| users.try_lock().is_ok());
        idle = if is_free { idle + 1 } else { 0 };
        if !server.is_up() {
            return;
        }
        if idle == IDLE_LOOKS {
            let _ = server.stop();
            server.remove();
        }
    }
}

fn turn_file() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("postgres.turn")
}

fn users_file() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("postgres.users")
}

/// Outside the target directory: another user must be able to access it, and socket paths must be short.
fn shared_folder() -> PathBuf {
    let target =
        env!("CARGO_TARGET_TMPDIR").bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
    env::temp_dir().join(format!("baton-pg-{target:08x}"))
}

fn lock(path: &Path) -> File {
    let file = File::create(path).expect("a file in the target folder");
    file.lock().expect("a lock on it");
    file
}

impl Programs {
    fn find() -> Result<Self, String> {
        let on_path =
            env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
        let mut packaged: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
            .map(|entries| entries.flatten().map(|entry| entry.path().join("bin")).collect())
            .unwrap_or_default();
        packaged.sort();
        let folder = on_path
            .into_iter()
            .chain(packaged.into_iter().rev())
            .find(|folder| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file())
            .ok_or("initdb and pg_ctl are neither on PATH nor in /usr/lib/postgresql/*/bin")?;
        let is_root = fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0);
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let has = |name: &str| users.lines().any(|line| line.split(':').next() == Some(name));
        let user = ["postgres", "nobody"].into_iter().find(|name| has(name)).map(str::to_owned);
        Ok(Self { folder, user: user.filter(|_| is_root), network: None })
    }

    /// The program, run as the right user.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut words: Vec<&OsStr> = Vec::new();
        if let Some(network) = &self.network {
            words.extend(["ip", "netns", "exec", network].map(OsStr::new));
        }
        let reuid = self.user.as_ref().map(|user| format!("--reuid={user}"));
        if let Some(reuid) = &reuid {
            words.extend(["setpriv", reuid, "--clear-groups", "--"].map(OsStr::new));
        }
        words.push(program.as_ref().as_os_str());
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        // The server must not die with the process group of the terminal or the test runner.
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        command
    }
}

impl Server {
    /// A private server that can be stopped and killed. Removed on drop.
    pub(crate) fn private(name: &str) -> Result<Self, String> {
        let server = Self::created(name)?;
        server.start();
        Ok(server)
    }

    /// The same, not yet started.
    pub(crate) fn created(name: &str) -> Result<Self, String> {
        let folder = env::temp_dir().join(format!("baton-pg-{name}-{}", std::process::id()));
        let server = Self { programs: Programs::find()?, folder };
        server.remove();
        server.create();
        Ok(server)
    }

    /// The same in a network namespace, open to everyone in that network.
    pub(crate) fn within(name: &str, network: &str, hosts: &str) -> Result<Self, String> {
        let folder = env::temp_dir().join(format!("baton-pg-{name}-{}", std::process::id()));
        let programs = Programs { network: Some(network.to_owned()), ..Programs::find()? };
        let server = Self { programs, folder };
        server.remove();
        server.create();
        let rules = server.data().join("pg_hba.conf");
        let text = fs::read_to_string(&rules).map_err(|error| error.to_string())?;
        fs::write(&rules, format!("{text}\nhost all all {hosts} trust\n"))
            .map_err(|error| error.to_string())?;
        server.start();
        Ok(server)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A program run as the server's user, in its directory.
    pub(crate) fn run_in_folder(&self, program: &str, arguments: &[&str]) {
        run(self.programs.command(program).args(arguments).current_dir(&self.folder));
    }

    /// A file in the server's directory.
    pub(crate) fn read(&self, name: &str) -> String {
        let output = self.programs.command("cat").arg(self.folder.join(name)).stdout(Stdio::piped()).output();
        String::from_utf8(output.expect("cat runs").stdout).expect("a text")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let script = "printf %s \"$1\" > \"$2\"";
        self.run_in_folder("sh", &["-c", script, "sh", text, name]);
    }

    /// Additional settings; later ones win.
    pub(crate) fn set(&self, settings: &str) {
        let before = self.read("data/postgresql.conf");
        self.write("data/postgresql.conf", &format!("{before}\n{settings}"));
    }

    /// Starts with only the settings in its file and its socket directory.
    pub(crate) fn start_as_set(&self) {
        let socket = format!("-c unix_socket_directories={}", self.folder.display());
        let mut start = self.programs.command(self.programs.folder.join("pg_ctl"));
        run(start
            .args(["start", "--wait", "--timeout=60", "-o", &socket])
            .arg("-D")
            .arg(self.data())
            .arg("-l")
            .arg(self.folder.join("log")));
    }

    pub(crate) fn restart_as_set(&self) {
        let _ = self.stop();
        self.start_as_set();
    }

    pub(crate) fn address(&self) -> String {
        format!("host={} user=baton dbname=postgres", self.folder.display())
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn is_up(&self) -> bool {
        UnixStream::connect(self.folder.join(".s.PGSQL.5432")).is_ok()
    }

    fn create(&self) {
        run(self.programs.command("mkdir").arg("-m").arg("755").arg(&self.folder));
        let mut initdb = self.programs.command(self.programs.folder.join("initdb"));
        // Only initdb runs unsynced; the server itself syncs as usual.
        run(initdb
            .args(["--username=baton", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"])
            .arg("-D")
            .arg(self.data()));
    }

    pub(crate) fn start(&self) {
        let listen = if self.programs.network.is_some() { "*" } else { "" };
        let settings = format!(
            "-c listen_addresses={listen} -c unix_socket_directories={} -c max_connections=400 -c shared_buffers=256MB \
             -c max_wal_size=4GB -c log_min_messages=fatal",
            self.folder.display()
        );
        let mut start = self.programs.command(self.programs.folder.join("pg_ctl"));
        run(start
            .args(["start", "--wait", "--timeout=60", "-o", &settings])
            .arg("-D")
            .arg(self.data())
            .arg("-l")
            .arg(self.folder.join("log")));
    }

    fn stop(&self) -> Result<(), String> {
        let mut stop = self.programs.command(self.programs.folder.join("pg_ctl"));
        stop.args(["stop", "--wait", "-m", "immediate"]).arg("-D").arg(self.data()).stderr(Stdio::null());
        stop.status().map(|_| ()).map_err(|error| error.to_string())
    }

    /// Kills all processes of the server at once, like a power failure, and starts it again.
    pub(crate) fn kill_and_restart(&self) {
        let _ = self.kill();
        self.start();
    }

    fn kill(&self) -> Option<()> {
        let pids = fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        let parent = pids.lines().next()?.trim().to_owned();
        let children =
            fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        // The postmaster first, or it would start crash recovery.
        let all: Vec<&str> = [parent.as_str()].into_iter().chain(children.split_whitespace()).collect();
        let mut kill = self.programs.command("kill");
        kill.arg("-9").args(&all).stderr(Stdio::null());
        kill.status().ok()?;
        while all.iter().any(|pid| is_running(pid)) {
            std::thread::yield_now();
        }
        // If nobody reaps the processes, the next server would think this one still runs.
        let locks = [self.data().join("postmaster.pid"), self.folder.join(".s.PGSQL.5432.lock")];
        run(self.programs.command("rm").arg("-f").args(locks));
        Some(())
    }

    fn remove(&self) {
        match fs::remove_dir_all(&self.folder) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => run(self.programs.command("rm").arg("-rf").arg(&self.folder)),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The watchdog stops the shared server.
        if self.folder != shared_folder() {
            let _ = self.stop();
            self.remove();
        }
    }
}

/// A zombie holds nothing any more.
fn is_running(pid: &str) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

fn run(command: &mut Command) {
    let output =
        command.stderr(Stdio::piped()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
