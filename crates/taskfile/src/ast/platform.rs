//! The platform a task or command is restricted to: an OS, an architecture, or both.

use crate::yaml::YamlNode;

use super::decode::{DecodeError, Decoder};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    pub os: Option<String>,
    pub arch: Option<String>,
}

/// The operating systems and architectures Go knows, which are those go-task accepts.
#[rustfmt::skip]
const SYSTEMS: &[&str] = &[
    // `__test__` matches no machine; go-task's own tests use it.
    "aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl",
    "netbsd", "openbsd", "plan9", "solaris", "wasip1", "windows", "zos", "__test__",
];
#[rustfmt::skip]
const PROCESSORS: &[&str] = &[
    "386", "amd64", "amd64p32", "arm", "armbe", "arm64", "arm64be", "loong64", "mips", "mipsle",
    "mips64", "mips64le", "mips64p32", "mips64p32le", "ppc", "ppc64", "ppc64le", "riscv", "riscv64",
    "s390", "s390x", "sparc", "sparc64", "wasm",
];

impl Platform {
    fn parse(text: &str) -> Option<Platform> {
        let known = |list: &[&str], word: &str| list.contains(&word).then(|| word.to_owned());
        match text.split_once('/') {
            Some((os, arch)) => {
                Some(Platform { os: Some(known(SYSTEMS, os)?), arch: Some(known(PROCESSORS, arch)?) })
            }
            None if SYSTEMS.contains(&text) => Some(Platform { os: Some(text.to_owned()), arch: None }),
            None => Some(Platform { os: None, arch: Some(known(PROCESSORS, text)?) }),
        }
    }

    /// Whether the platform is this machine's.
    pub fn matches(&self, os: &str, arch: &str) -> bool {
        self.os.as_deref().is_none_or(|o| o == os) && self.arch.as_deref().is_none_or(|a| a == arch)
    }
}

impl Decoder {
    #[expect(clippy::unused_self, reason = "all decoding hangs on the decoder")]
    pub(super) fn platform(&mut self, node: &YamlNode) -> Result<Platform, DecodeError> {
        let text = node.text().ok_or_else(|| DecodeError::kind(node, "platform"))?;
        Platform::parse(text).ok_or_else(|| DecodeError::new(node, format!("invalid platform {text:?}")))
    }
}
