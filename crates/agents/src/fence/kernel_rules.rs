//! Landlock: access rules that a process sets for itself and its descendants, and that nothing can lift again.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use serde::{Deserialize, Serialize};

/// The newest version whose rights are used; older kernels keep what they know.
const RULES: ABI = ABI::V6;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KernelRules {
    /// Files below these may be read and executed.
    pub(super) read: Vec<PathBuf>,
    /// Files below these may also be changed.
    pub(super) write: Vec<PathBuf>,
    /// No TCP connection may be made.
    pub(super) deny_tcp: bool,
}

/// Whether the kernel has Landlock, and it is switched on.
pub(super) fn is_supported() -> Result<(), String> {
    let wanted = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let created = wanted.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create);
    created.map(drop).map_err(|_| "the kernel has no Landlock, or it is switched off".to_owned())
}

impl KernelRules {
    /// Restricts this process from now on. Rules that the kernel does not know are left out.
    pub(super) fn apply(&self) -> Result<(), String> {
        let failed = |error: landlock::RulesetError| format!("cannot set Landlock rules: {error}");
        let mut rules = Ruleset::default().handle_access(AccessFs::from_all(RULES)).map_err(failed)?;
        rules = rules.scope(Scope::from_all(RULES)).map_err(failed)?;
        if self.deny_tcp {
            rules = rules.handle_access(AccessNet::ConnectTcp).map_err(failed)?;
        }
        let mut created = rules.create().map_err(failed)?;
        let sets = [(&self.read, AccessFs::from_read(RULES)), (&self.write, AccessFs::from_all(RULES))];
        for (paths, access) in sets {
            for path in paths {
                // What is not there needs no rule.
                let Ok(file) = PathFd::new(path) else { continue };
                let access = if path.is_dir() { access } else { access & AccessFs::from_file(RULES) };
                created = created.add_rule(PathBeneath::new(file, access)).map_err(failed)?;
            }
        }
        created.restrict_self().map(drop).map_err(failed)
    }
}
