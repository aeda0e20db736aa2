//! The same policy as a profile of macOS's sandbox.
//!
//! The text is checked by tests; it has not been run on a Mac by the authors yet, and `baton doctor` says so.

use std::fmt::Write;
use std::path::Path;

use baton_core::task::fence::NetworkMode;

use crate::fence::places::{HOME_GIT, HOME_SECRETS, HOME_TOOLS};
use crate::fence::request::FenceRequest;
use crate::fence::tools;

/// Readable besides the files of the request: the system, its programs and what it needs to start one.
const SYSTEM: [&str; 11] = [
    "/System",
    "/Library",
    "/usr",
    "/bin",
    "/sbin",
    "/opt",
    "/private/etc",
    "/private/var/db",
    "/Applications/Xcode.app",
    "/dev",
    "/private/tmp",
];
/// Writable in every fence.
const SCRATCH: [&str; 3] = ["/private/tmp", "/private/var/folders", "/dev"];

/// The profile for `sandbox-exec -p`. Later rules win.
pub fn profile(request: &FenceRequest) -> String {
    let mut text = String::from("(version 1)\n(deny default)\n");
    text.push_str(
        "(allow process-exec process-fork signal sysctl-read mach-lookup ipc-posix-shm file-read-metadata)\n",
    );
    let home = &request.home;
    let is_system = |path: &Path| SYSTEM.iter().any(|system| path.starts_with(system));
    for path in SYSTEM {
        rule(&mut text, "allow file-read*", Path::new(path));
    }
    for name in HOME_TOOLS.iter().chain(&HOME_GIT) {
        rule(&mut text, "allow file-read*", &home.join(name));
    }
    for path in tools::folders(&request.search_path, request.program.as_deref(), home, is_system) {
        rule(&mut text, "allow file-read*", &path);
    }
    for path in request.objects.iter().chain(&request.agent_read).chain(&request.policy.read) {
        rule(&mut text, "allow file-read*", path);
    }
    for path in SCRATCH {
        rule(&mut text, "allow file-read* file-write*", Path::new(path));
    }
    for path in request.agent_write.iter().chain(&request.policy.write) {
        rule(&mut text, "allow file-read* file-write*", path);
    }
    for name in HOME_SECRETS {
        rule(&mut text, "deny file-read* file-write*", &home.join(name));
    }
    for path in &request.hide {
        rule(&mut text, "deny file-read* file-write*", path);
    }
    rule(&mut text, "allow file-read* file-write*", &request.clone);
    match request.policy.network {
        NetworkMode::Open | NetworkMode::Allow => text.push_str("(allow network*)\n"),
        NetworkMode::None => text.push_str("(deny network*)\n"),
    }
    text
}

fn rule(text: &mut String, action: &str, path: &Path) {
    let quoted = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "({action} (subpath \"{quoted}\"))");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fence::request::FencePolicy;

    #[test]
    fn the_clone_is_opened_after_everything_that_hides_it() {
        let request = FenceRequest {
            policy: FencePolicy { network: NetworkMode::None, ..FencePolicy::default() },
            clone: "/Users/mia/code/.agent/state/clone \"1\"".into(),
            home: "/Users/mia".into(),
            agent_write: vec!["/Users/mia/.claude".into()],
            hide: vec!["/Users/mia/code".into()],
            ..FenceRequest::default()
        };
        let text = profile(&request);
        let at = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle} is not in\n{text}"));
        assert!(at("(deny default)") < at("(allow file-read* (subpath \"/usr\"))"));
        assert!(
            at("(allow file-read* file-write* (subpath \"/Users/mia/.claude\"))") < at("/Users/mia/.ssh")
        );
        let hidden = at("(deny file-read* file-write* (subpath \"/Users/mia/code\"))");
        assert!(
            hidden
                < at(
                    "(allow file-read* file-write* (subpath \"/Users/mia/code/.agent/state/clone \\\"1\\\"\"))"
                )
        );
        assert!(text.ends_with("(deny network*)\n"));
    }
}
