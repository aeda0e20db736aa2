//! Baton's own program inside a fence: it opens the forwarded ports, sets the kernel's rules, and becomes the agent.
//!
//! It is Baton's binary in a mode of its own, as the watchdog is. `run SETUP -- PROGRAM…` replaces itself by the agent, so
//! streams, signals and exit code are the agent's. `forward SOCKET` pipes the connections of one port to a socket.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tokio::io::copy_bidirectional;
use tokio::net::UnixStream;

use crate::fence::request::ForwardedPort;

/// As shells have it: the program was not found, or could not be started.
const NOT_STARTED: u8 = 127;
const USAGE: u8 = 2;

static HELPER: OnceLock<HelperProgram> = OnceLock::new();

/// How the helper is started: the program and the words before its own arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperProgram {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

/// From now on fences of this process use `program arguments…`, which must call [`program`].
pub fn enable(program: PathBuf, arguments: impl IntoIterator<Item = impl Into<OsString>>) {
    let arguments = arguments.into_iter().map(Into::into).collect();
    HELPER.get_or_init(|| HelperProgram { program, arguments });
}

/// The helper, if there is one.
pub fn helper() -> Option<&'static HelperProgram> {
    HELPER.get()
}

/// What the helper does before it becomes the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HelperSetup {
    pub(super) forward: Vec<ForwardedPort>,
    #[cfg(target_os = "linux")]
    #[serde(default)]
    pub(super) rules: Option<crate::fence::kernel_rules::KernelRules>,
}

/// The whole program.
pub fn program(words: &[OsString]) -> ExitCode {
    let said = match words {
        [word, setup, dashes, command @ ..] if word == "run" && dashes == "--" => run(setup, command),
        [word, socket] if word == "forward" => match forward(Path::new(socket)) {
            Ok(never) => match never {},
            Err(error) => format!("cannot forward a port: {error}"),
        },
        _ => {
            let _ = writeln!(io::stderr(), "baton: this command is started by Baton inside a fence");
            return USAGE.into();
        }
    };
    let _ = writeln!(io::stderr(), "baton: {said}");
    NOT_STARTED.into()
}

/// Returns only what went wrong.
fn run(setup: &OsString, command: &[OsString]) -> String {
    let setup: Option<HelperSetup> = setup.to_str().and_then(|text| serde_json::from_str(text).ok());
    let (Some(setup), Some((program, arguments))) = (setup, command.split_first()) else {
        return "the fence was described badly".to_owned();
    };
    for forwarded in &setup.forward {
        if let Err(error) = open_port(forwarded) {
            return format!("cannot open port {} of the fence: {error}", forwarded.port);
        }
    }
    #[cfg(target_os = "linux")]
    if let Some(rules) = &setup.rules
        && let Err(error) = rules.apply()
    {
        return error;
    }
    let error = Command::new(program).args(arguments).exec();
    format!("cannot start {} in the fence: {error}", program.display())
}

/// Listens before the agent runs, and leaves the accepting to a process of its own, which gets the listener as its input.
fn open_port(forwarded: &ForwardedPort) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, forwarded.port))?;
    let own = std::env::current_exe()?;
    let words = std::env::args_os().skip(1).take_while(|word| word != "run");
    Command::new(own)
        .args(words)
        .arg("forward")
        .arg(&forwarded.socket)
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(listener)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map(drop)
}

fn forward(socket: &Path) -> io::Result<std::convert::Infallible> {
    let listener = TcpListener::from(io::stdin().as_fd().try_clone_to_owned()?);
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (mut client, _) = listener.accept().await?;
            let socket = socket.to_owned();
            tokio::spawn(async move {
                if let Ok(mut outside) = UnixStream::connect(socket).await {
                    let _ = copy_bidirectional(&mut client, &mut outside).await;
                }
            });
        }
    })
}
