//! `[room]`: what the machine must have left for another agent to start.

use std::path::Path;

use baton_core::limits::machine::MachineLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::user_tasks::HeavyPermits;

/// `[room]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoomSettings {
    /// How many MiB of memory must be free for another agent to start; 0 does not look.
    pub memory_mb: u64,
    /// How many MiB of the state folder's disk must be free.
    pub disk_mb: u64,
    /// With less than this many MiB of memory free, the agent that started last is paused, as long as another one works. It
    /// goes on when there is memory again. 0 never pauses.
    pub pause_below_mb: u64,
    /// How many MiB of memory all processes of one attempt may use together before they are ended and you are asked. Those of
    /// a check, a set-up or a hook may use as much before they are ended and have failed. Without it, half of the machine's;
    /// 0 does not limit them.
    pub attempt_memory_mb: Option<u64>,
    /// How many percent of the time something may wait for memory (`/proc/pressure/memory`).
    pub memory_pressure: u64,
    /// The same for processors. Without it, it is not looked at.
    pub cpu_pressure: Option<u64>,
    /// The load average, in percent of the processors. Without it, it is not looked at.
    pub load: Option<u64>,
    /// How many checks and heavy user tasks of every Baton on this machine may run at once. Without it, as many as come.
    pub heavy_at_once: Option<u32>,
    /// User tasks that are heavy. Checks always are.
    pub heavy: Vec<String>,
    /// Whether agents, checks and user tasks get `CARGO_BUILD_JOBS` and `CMAKE_BUILD_PARALLEL_LEVEL` for their share of the
    /// processors, and a `-j` in your `MAKEFLAGS` becomes that share. What you have set yourself stays otherwise.
    pub share_build_jobs: bool,
}

impl Default for RoomSettings {
    fn default() -> Self {
        Self {
            memory_mb: 256,
            disk_mb: 512,
            pause_below_mb: 128,
            attempt_memory_mb: None,
            memory_pressure: 60,
            cpu_pressure: None,
            load: None,
            heavy_at_once: None,
            heavy: Vec::new(),
            share_build_jobs: true,
        }
    }
}

impl RoomSettings {
    pub fn limits(&self) -> MachineLimits {
        let set = |limit: u64| (limit > 0).then_some(limit);
        MachineLimits {
            memory_free_mb: set(self.memory_mb),
            disk_free_mb: set(self.disk_mb),
            memory_pressure_percent: set(self.memory_pressure),
            cpu_pressure_percent: self.cpu_pressure,
            load_percent: self.load,
        }
    }

    /// What the processes of one attempt may use on a machine with this much memory. None is not limited.
    pub fn attempt_memory_bytes(&self, machine_mb: Option<u64>) -> Option<u64> {
        let mb = self.attempt_memory_mb.or(machine_mb.map(|mb| mb / 2))?;
        (mb > 0).then(|| mb.saturating_mul(1 << 20))
    }

    pub(crate) fn permits(&self, folder: &Path) -> HeavyPermits {
        HeavyPermits::new(folder, self.heavy_at_once, self.heavy.clone())
    }

    /// When an agent has to pause.
    pub fn pause_limits(&self) -> MachineLimits {
        let memory_free_mb = (self.pause_below_mb > 0).then_some(self.pause_below_mb);
        MachineLimits { memory_free_mb, ..MachineLimits::default() }
    }
}
