//! What a template can ask of the outside world. Tests use a fixed host.

use std::path::{Path, PathBuf};

use jiff::Zoned;

pub trait Host {
    fn env(&self, name: &str) -> Option<String>;
    fn now(&self) -> Zoned;
    /// The next uniformly random number.
    fn random(&self) -> u64;
    /// The base of relative paths.
    fn working_dir(&self) -> &Path;
    /// The operating system in Go's notation: `linux`, `darwin`, `windows`.
    fn os(&self) -> &str;
    /// The architecture in Go's notation: `amd64`, `arm64`.
    fn arch(&self) -> &str;
    fn num_cpu(&self) -> usize;
    /// Resolves a host name, for `getHostByName`.
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
        // If the system has no randomness, a freshly keyed hasher still differs at each call.
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
