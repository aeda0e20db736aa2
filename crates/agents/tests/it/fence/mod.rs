//! Fences around real programs: what they see, write, reach and leave behind.
//!
//! Without bubblewrap these tests report that they were skipped; with `CI=true` that is a failure.

mod files;
mod network;
mod peers;
mod processes;

use std::fs;
use std::path::PathBuf;

use baton_agents::driver::Launch;
use baton_agents::fence::abilities::HostAbilities;
use baton_agents::fence::{Fence, FencePolicy, FenceRequest, HelperProgram};
use baton_agents::process::keeper;
use baton_core::task::fence::{FenceMode, NetworkMode};

use crate::bench::Bench;

/// A person's home with secrets, a repository's state, and one attempt's clone in it.
pub(super) struct Yard {
    pub(super) bench: Bench,
}

impl Yard {
    /// None where the machine has no bubblewrap.
    pub(super) fn new() -> Option<Self> {
        if let Err(reason) = &HostAbilities::current().own_network {
            assert!(std::env::var("CI").is_err(), "{reason}");
            return None;
        }
        let bench = Bench::new();
        for folder in [
            "home/.ssh",
            "home/.claude",
            "home/.config/baton",
            "home/.cargo/bin",
            "repo/.git/objects",
            "state",
        ] {
            fs::create_dir_all(bench.path(folder)).unwrap();
        }
        for (file, text) in [
            ("home/.ssh/id_ed25519", "KEY"),
            ("home/.cargo/credentials.toml", "CRATES"),
            ("home/notes.txt", "DIARY"),
            ("repo/.git/objects/pack", "OBJECT"),
            ("repo/.env", "PASSWORD"),
            ("state/baton.db", "STORE"),
        ] {
            fs::write(bench.path(file), text).unwrap();
        }
        Some(Self { bench })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.bench.path(name)
    }

    pub(super) fn request(&self, network: NetworkMode) -> FenceRequest {
        FenceRequest {
            policy: FencePolicy { mode: FenceMode::Strict, network, ..FencePolicy::default() },
            clone: self.bench.worktree(),
            objects: vec![self.path("repo/.git/objects")],
            home: self.path("home"),
            agent_write: vec![self.path("home/.claude")],
            hide: vec![self.path("state"), self.path("repo")],
            search_path: std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect(),
            ..FenceRequest::default()
        }
    }

    /// A shell in the fence of `request`.
    pub(super) fn launch(&self, request: &FenceRequest, script: &str) -> Launch {
        let mut launch = self.bench.shell(script);
        launch.environment.set("HOME", self.path("home").as_os_str());
        launch.environment.set("YARD", self.bench.folder.path().as_os_str());
        launch.fence = Some(Fence::build(request, HostAbilities::current(), Some(&helper())).unwrap());
        launch
    }
}

pub(super) fn helper() -> HelperProgram {
    HelperProgram { program: env!("CARGO_BIN_EXE_agent-helper").into(), arguments: vec!["fence".into()] }
}

/// From now on agents of this test run below a keeper.
pub(super) fn keep() {
    keeper::enable(env!("CARGO_BIN_EXE_agent-helper").into(), ["keep"]);
}
