//! A fence that was built: how a program is started in it, and what it does and does not keep.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use baton_core::task::fence::{FenceAspect, FenceGap, FenceLayer, FenceMode, FenceReport, NetworkMode};

use crate::fence::abilities::HostAbilities;
use crate::fence::helper::{HelperProgram, HelperSetup};
use crate::fence::layout::{Layout, Mount};
use crate::fence::places::REMOVED_VARIABLES;
use crate::fence::request::FenceRequest;
use crate::fence::{bubblewrap, seatbelt};

/// Tells Baton's own commands inside a fence that there is no store to open.
pub const FENCED: &str = "BATON_FENCED";

/// `strict` was asked for, and this machine cannot do it (I21).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the fence cannot be built: {}", reasons.join("; "))]
pub struct FenceError {
    pub reasons: Vec<String>,
}

/// How one attempt's programs are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    report: FenceReport,
    shape: FenceShape,
    helper: Option<HelperProgram>,
    setup: HelperSetup,
    variables: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum FenceShape {
    Open,
    Bubblewrap {
        program: PathBuf,
        layout: Layout,
        has_own_network: bool,
    },
    /// Only rules that the helper sets.
    KernelRules,
    Seatbelt {
        program: PathBuf,
        profile: String,
    },
}

impl Fence {
    /// Builds what was asked for. `auto` does as much as the machine can, and says in the report what is missing.
    pub fn build(
        request: &FenceRequest,
        abilities: &HostAbilities,
        helper: Option<&HelperProgram>,
    ) -> Result<Self, FenceError> {
        let policy = &request.policy;
        let mut fence = Self {
            report: FenceReport {
                mode: policy.mode,
                network: policy.network,
                layers: Vec::new(),
                gaps: Vec::new(),
            },
            shape: FenceShape::Open,
            helper: helper.cloned(),
            setup: HelperSetup::default(),
            variables: Vec::new(),
        };
        if policy.mode == FenceMode::Off {
            if policy.network != NetworkMode::Open {
                fence.gap(FenceAspect::Network, "without a fence the network is open");
            }
            return Ok(fence);
        }
        match (&abilities.bubblewrap, &abilities.seatbelt, helper) {
            (Ok(program), _, Some(helper)) => fence.use_bubblewrap(program, request, abilities, helper),
            (_, Ok(program), _) => fence.use_seatbelt(program, request),
            (bubblewrap, _, helper) => {
                let reason = bubblewrap.as_ref().err().map_or("Baton's helper is missing", String::as_str);
                fence.use_kernel_rules(request, abilities, helper.is_some(), reason);
            }
        }
        if policy.mode == FenceMode::Strict && !fence.report.is_complete() {
            let reasons =
                fence.report.gaps.iter().map(|gap| format!("{}: {}", gap.aspect, gap.reason)).collect();
            return Err(FenceError { reasons });
        }
        Ok(fence)
    }

    pub fn report(&self) -> &FenceReport {
        &self.report
    }

    /// Whether the program runs in a process namespace, which ends as one.
    pub fn owns_processes(&self) -> bool {
        matches!(self.shape, FenceShape::Bubblewrap { .. })
    }

    /// Whether the person's ports cannot be reached from inside.
    pub fn has_own_network(&self) -> bool {
        matches!(self.shape, FenceShape::Bubblewrap { has_own_network: true, .. })
    }

    /// The command line that runs `command` in `folder` inside the fence.
    pub fn command(&self, command: &[String], folder: &Path) -> Vec<OsString> {
        let words = command.iter().map(OsString::from);
        match &self.shape {
            FenceShape::Open => words.collect(),
            FenceShape::Bubblewrap { program, layout, has_own_network } => {
                let arguments = bubblewrap::arguments(layout, folder, *has_own_network);
                std::iter::once(program.into()).chain(arguments).chain(self.helped()).chain(words).collect()
            }
            FenceShape::KernelRules => self.helped().chain(words).collect(),
            FenceShape::Seatbelt { program, profile } => {
                let head = [program.into(), "-p".into(), profile.into()];
                head.into_iter().chain(words).collect()
            }
        }
    }

    /// Variables that would lead out of the fence.
    pub fn removed_variables(&self) -> &'static [&'static str] {
        if self.report.layers.is_empty() { &[] } else { &REMOVED_VARIABLES }
    }

    /// Variables that programs inside need.
    pub fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// The helper's part of the command line.
    fn helped(&self) -> impl Iterator<Item = OsString> {
        let setup = serde_json::to_string(&self.setup).unwrap_or_default();
        let head = self.helper.iter().flat_map(|helper| {
            std::iter::once(helper.program.clone().into_os_string()).chain(helper.arguments.clone())
        });
        let head: Vec<OsString> = head.chain(["run".into(), setup.into(), "--".into()]).collect();
        head.into_iter()
    }

    fn gap(&mut self, aspect: FenceAspect, reason: impl Into<String>) {
        self.report.gaps.push(FenceGap { aspect, reason: reason.into() });
    }

    fn use_bubblewrap(
        &mut self,
        program: &Path,
        request: &FenceRequest,
        abilities: &HostAbilities,
        helper: &HelperProgram,
    ) {
        let mut layout = Layout::plan(request);
        let own = helper.program.clone();
        layout.mounts.push(Mount::ReadOnly { source: own.clone(), target: own });
        for path in layout.escaping.clone() {
            self.gap(
                FenceAspect::Files,
                format!("{} leads out of its folder and is left out", path.display()),
            );
        }
        let wants_own = request.policy.network != NetworkMode::Open;
        let has_own_network = wants_own && abilities.own_network.is_ok();
        if let (true, Err(reason)) = (wants_own, &abilities.own_network) {
            self.gap(FenceAspect::Network, reason.clone());
        }
        self.report.layers.push(FenceLayer::Bubblewrap);
        self.variables.push(("TMPDIR".to_owned(), "/tmp".to_owned()));
        self.variables.push((FENCED.to_owned(), "1".to_owned()));
        if has_own_network {
            self.setup.forward.clone_from(&request.forward);
            if let Some(port) = request.proxy_port {
                self.variables.extend(proxy_variables(port));
            }
        }
        #[cfg(target_os = "linux")]
        if abilities.landlock.is_ok() {
            let mut write = layout.writable();
            write.extend(["/dev", "/proc"].map(PathBuf::from));
            self.setup.rules = Some(crate::fence::kernel_rules::KernelRules {
                read: vec!["/".into()],
                write,
                deny_tcp: false,
            });
            self.report.layers.push(FenceLayer::Landlock);
        }
        self.shape = FenceShape::Bubblewrap { program: program.to_owned(), layout, has_own_network };
    }

    #[cfg(target_os = "linux")]
    fn use_kernel_rules(
        &mut self,
        request: &FenceRequest,
        abilities: &HostAbilities,
        has_helper: bool,
        reason: &str,
    ) {
        self.gap(FenceAspect::Processes, reason);
        match request.policy.network {
            NetworkMode::Open => {}
            NetworkMode::Allow => {
                self.gap(FenceAspect::Network, format!("all hosts can be reached, because {reason}"));
            }
            NetworkMode::None => {
                self.gap(FenceAspect::Network, format!("only TCP is cut off, because {reason}"));
            }
        }
        let landlock = if has_helper { abilities.landlock.clone() } else { Err(reason.to_owned()) };
        if let Err(reason) = landlock {
            self.gap(FenceAspect::Files, reason);
            return;
        }
        let layout = Layout::plan(request);
        let mut read = layout.readable();
        read.extend(["/proc", "/dev", "/bin", "/sbin", "/lib", "/lib64"].map(PathBuf::from));
        let is_home = |path: &PathBuf| *path == request.home || path == Path::new("/run");
        let hidden = |path: &PathBuf| request.hide.contains(path);
        let mut write: Vec<PathBuf> =
            layout.writable().into_iter().filter(|path| !is_home(path) && !hidden(path)).collect();
        write.push("/dev".into());
        read.extend(self.helper.iter().map(|helper| helper.program.clone()));
        let visible = |path: &PathBuf| read.iter().chain(&write).any(|above| path.starts_with(above));
        let shown = request.hide.iter().filter(|path| visible(path) && path.exists()).count();
        if shown > 0 {
            self.gap(FenceAspect::Files, "Landlock cannot hide a folder below one that is visible");
        }
        let deny_tcp = request.policy.network == NetworkMode::None;
        self.setup.rules = Some(crate::fence::kernel_rules::KernelRules { read, write, deny_tcp });
        self.report.layers.push(FenceLayer::Landlock);
        self.shape = FenceShape::KernelRules;
    }

    #[cfg(not(target_os = "linux"))]
    fn use_kernel_rules(&mut self, _: &FenceRequest, _: &HostAbilities, _: bool, reason: &str) {
        for aspect in [FenceAspect::Files, FenceAspect::Processes, FenceAspect::Network] {
            self.gap(aspect, reason);
        }
    }

    fn use_seatbelt(&mut self, program: &Path, request: &FenceRequest) {
        self.report.layers.push(FenceLayer::Seatbelt);
        self.gap(FenceAspect::Processes, "macOS has no process namespaces");
        if request.policy.network == NetworkMode::Allow {
            self.gap(
                FenceAspect::Network,
                "all hosts can be reached, because macOS has no network namespaces",
            );
        }
        self.shape =
            FenceShape::Seatbelt { program: program.to_owned(), profile: seatbelt::profile(request) };
    }
}

/// What programs look at to find an HTTP proxy.
fn proxy_variables(port: u16) -> Vec<(String, String)> {
    let url = format!("http://127.0.0.1:{port}");
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    let proxies = names.into_iter().map(|name| (name.to_owned(), url.clone()));
    let local = ["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), "localhost,127.0.0.1,::1".to_owned()));
    // Node looks at the variables above only when it is told to.
    proxies.chain(local).chain([("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fence::request::FencePolicy;

    fn asked(mode: FenceMode, network: NetworkMode) -> FenceRequest {
        FenceRequest {
            policy: FencePolicy { mode, network, ..FencePolicy::default() },
            clone: "/nowhere/clone".into(),
            home: "/nowhere/home".into(),
            ..FenceRequest::default()
        }
    }

    fn helper() -> HelperProgram {
        HelperProgram { program: "/nowhere/baton".into(), arguments: vec!["agent-fence".into()] }
    }

    #[test]
    fn strict_is_refused_where_it_cannot_be_built() {
        // I21
        let poor = HostAbilities::nothing("bubblewrap is not installed");
        let refused = Fence::build(&asked(FenceMode::Strict, NetworkMode::Open), &poor, Some(&helper()));
        assert!(refused.unwrap_err().to_string().contains("bubblewrap is not installed"));
        let no_net = HostAbilities { bubblewrap: Ok("/usr/bin/bwrap".into()), ..poor };
        let open = Fence::build(&asked(FenceMode::Strict, NetworkMode::Open), &no_net, Some(&helper()));
        assert_eq!(open.unwrap().report().layers, [FenceLayer::Bubblewrap]);
        assert!(
            Fence::build(&asked(FenceMode::Strict, NetworkMode::None), &no_net, Some(&helper())).is_err()
        );
        assert!(Fence::build(&asked(FenceMode::Strict, NetworkMode::Open), &no_net, None).is_err());
    }

    #[test]
    fn auto_falls_back_and_says_so() {
        // I21
        let poor = HostAbilities::nothing("bubblewrap is not installed");
        let fence =
            Fence::build(&asked(FenceMode::Auto, NetworkMode::Allow), &poor, Some(&helper())).unwrap();
        let missing: Vec<FenceAspect> = fence.report().gaps.iter().map(|gap| gap.aspect).collect();
        assert_eq!(missing, [FenceAspect::Processes, FenceAspect::Network, FenceAspect::Files]);
        assert_eq!(fence.command(&["agent".to_owned()], Path::new("/")), ["agent"]);
        assert!(fence.removed_variables().is_empty());
    }

    #[test]
    fn off_runs_the_command_as_it_is_and_admits_an_open_network() {
        let rich = HostAbilities { bubblewrap: Ok("/usr/bin/bwrap".into()), ..HostAbilities::nothing("") };
        let fence = Fence::build(&asked(FenceMode::Off, NetworkMode::None), &rich, Some(&helper())).unwrap();
        assert_eq!(fence.command(&["agent".to_owned()], Path::new("/")), ["agent"]);
        assert_eq!(fence.report().gaps.len(), 1);
    }
}
