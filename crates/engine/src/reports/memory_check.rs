//! What keeps one attempt from taking the machine's memory.

use baton_agents::process::cgroup::{Delegation, delegation};

use crate::limits::machine;
use crate::reports::doctor::Finding;
use crate::settings::Settings;

pub(super) fn check_memory(settings: &Settings) -> Finding {
    let Some(bytes) = settings.room.attempt_memory_bytes(machine::memory_mb()) else {
        let fix = "set attempt_memory_mb in [room] of .agent/baton.toml";
        return Finding::note("memory", "an attempt may use all memory of this machine", fix);
    };
    let enforced = match delegation() {
        Delegation::Memory => "measured, and limited by the control group of each agent",
        Delegation::Groups => {
            "measured; agents are killed as one, but limits of control groups are not delegated"
        }
        Delegation::Nothing => "measured; control groups are not delegated",
    };
    Finding::ok("memory", format!("an attempt may use {} MB: {enforced}", bytes >> 20))
}
