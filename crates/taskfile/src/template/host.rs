//! Everything a template may learn from outside. The engine passes the real one, tests a fixed one.

use std::path::{Path, PathBuf};

use jiff::Zoned;

pub trait Host {
    fn env(&self, name: &str) -> Option<String>;
    fn now(&self) -> Zoned;
    /// The next random number; every bit equally likely to be set.
    fn random(&self) -> u64;
    /// Where relative paths start.
    fn working_dir(&self) -> &Path;
    /// The system in Go's words: `linux`, `darwin`, `windows`.
    fn os(&self) -> &str;
    /// The processor in Go's words: `amd64`, `arm64`.
    fn arch(&self) -> &str;
    fn num_cpu(&self) -> usize;
    /// The addresses of a name, for `getHostByName`.
    fn addresses(&self, name: &str) -> Vec<String>;
}

/// The machine this runs on.
#[derive(Clone, Debug)]
pub struct System {
    working_dir: PathBuf,
}

impl System {
    pub fn new(working_dir: impl Into<PathBuf>) -> System {
        System { working_dir: working_dir.into() }
    }
}

impl Host for System {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn now(&self) -> Zoned {
        Zoned::now()
    }

    fn random(&self) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        // Without the system's randomness, the process's own keyed hash is still different at each call.
        getrandom::u64().unwrap_or_else(|_| std::hash::RandomState::new().build_hasher().finish())
    }

    fn working_dir(&self) -> &Path {
        &self.working_dir
    }

    fn os(&self) -> &str {
        go_os(std::env::consts::OS)
    }

    fn arch(&self) -> &str {
        go_arch(std::env::consts::ARCH)
    }

    fn num_cpu(&self) -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
    }

    fn addresses(&self, name: &str) -> Vec<String> {
        use std::net::ToSocketAddrs;
        let Ok(found) = (name, 0).to_socket_addrs() else { return Vec::new() };
        let mut addresses: Vec<String> = Vec::new();
        for address in found.map(|found| found.ip().to_string()) {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        addresses
    }
}

fn go_os(name: &'static str) -> &'static str {
    match name {
        "macos" => "darwin",
        other => other,
    }
}

fn go_arch(name: &'static str) -> &'static str {
    match name {
        "x86_64" => "amd64",
        "x86" => "386",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64",
        "loongarch64" => "loong64",
        other => other,
    }
}
