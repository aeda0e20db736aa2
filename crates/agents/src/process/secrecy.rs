//! Keeps other processes of the same user out of this one.

/// From now on only root reads the environment and the memory of this process, or attaches to it. Programs that it starts are
/// not affected.
#[cfg(target_os = "linux")]
pub fn forbid_inspection() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "agents can read the memory of this process");
    }
}

#[cfg(not(target_os = "linux"))]
pub fn forbid_inspection() {}
