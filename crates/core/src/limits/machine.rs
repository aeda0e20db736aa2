//! Room on the machine: whether another agent fits, and whether one has to pause.
//!
//! A limit that is reached stays in force until the reading is clearly better, so that work does not start and stop around
//! it. Who reads the machine is outside.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What was read of the machine; none where the system does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineReading {
    pub memory_free_mb: Option<u64>,
    pub disk_free_mb: Option<u64>,
    /// Share of the last ten seconds in which something waited for memory, in percent.
    pub memory_pressure_percent: Option<u64>,
    /// The same for processors.
    pub cpu_pressure_percent: Option<u64>,
    /// Processes that want to run, for every hundred processors.
    pub load_percent: Option<u64>,
}

/// What the machine must have left for another agent to start; none is not looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineLimits {
    pub memory_free_mb: Option<u64>,
    pub disk_free_mb: Option<u64>,
    pub memory_pressure_percent: Option<u64>,
    pub cpu_pressure_percent: Option<u64>,
    pub load_percent: Option<u64>,
}

/// One side of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineAspect {
    Memory,
    MemoryPressure,
    CpuPressure,
    Load,
    Disk,
}

/// A limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineShortage {
    pub aspect: MachineAspect,
    pub now: u64,
    pub limit: u64,
}

/// What is short. `before` is what was short at the last look.
pub fn shortages(
    limits: &MachineLimits,
    reading: &MachineReading,
    before: &[MachineShortage],
) -> Vec<MachineShortage> {
    let pairs = [
        (MachineAspect::Memory, reading.memory_free_mb, limits.memory_free_mb),
        (MachineAspect::MemoryPressure, reading.memory_pressure_percent, limits.memory_pressure_percent),
        (MachineAspect::CpuPressure, reading.cpu_pressure_percent, limits.cpu_pressure_percent),
        (MachineAspect::Load, reading.load_percent, limits.load_percent),
        (MachineAspect::Disk, reading.disk_free_mb, limits.disk_free_mb),
    ];
    let mut found = Vec::new();
    for (aspect, now, limit) in pairs {
        let (Some(now), Some(limit)) = (now, limit) else { continue };
        let was_short = before.iter().any(|one| one.aspect == aspect);
        if aspect.is_short(now, limit, was_short) {
            found.push(MachineShortage { aspect, now, limit });
        }
    }
    found
}

impl MachineAspect {
    /// Once it is short, a quarter more has to be there before it is not.
    const fn is_short(self, now: u64, limit: u64, was_short: bool) -> bool {
        match self {
            Self::Memory | Self::Disk => {
                now < if was_short { limit.saturating_add(limit / 4) } else { limit }
            }
            Self::MemoryPressure | Self::CpuPressure | Self::Load => {
                now > if was_short { limit - limit / 4 } else { limit }
            }
        }
    }
}

impl fmt::Display for MachineShortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { aspect, now, limit } = self;
        match aspect {
            MachineAspect::Memory => write!(f, "{now} MB of memory left, {limit} MB wanted"),
            MachineAspect::Disk => write!(f, "{now} MB of disk left, {limit} MB wanted"),
            MachineAspect::MemoryPressure => {
                write!(f, "something waits for memory {now} % of the time, {limit} % at most")
            }
            MachineAspect::CpuPressure => {
                write!(f, "something waits for a processor {now} % of the time, {limit} % at most")
            }
            MachineAspect::Load => write!(f, "a load of {now} % of the processors, {limit} % at most"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: MachineLimits = MachineLimits {
        memory_free_mb: Some(1_000),
        disk_free_mb: Some(500),
        memory_pressure_percent: Some(40),
        cpu_pressure_percent: None,
        load_percent: Some(200),
    };

    fn memory(free: u64) -> MachineReading {
        MachineReading { memory_free_mb: Some(free), ..MachineReading::default() }
    }

    #[test]
    fn a_shortage_ends_only_when_the_machine_is_clearly_better() {
        let mut before = Vec::new();
        let told: Vec<bool> = [2_000, 1_000, 999, 1_000, 1_249, 1_250, 1_100]
            .into_iter()
            .map(|free| {
                before = shortages(&LIMITS, &memory(free), &before);
                !before.is_empty()
            })
            .collect();
        assert_eq!(told, [false, false, true, true, true, false, false]);
    }

    #[test]
    fn every_side_has_its_limit_and_what_is_not_known_or_not_limited_is_not_short() {
        let reading = MachineReading {
            memory_free_mb: None,
            disk_free_mb: Some(10),
            memory_pressure_percent: Some(41),
            cpu_pressure_percent: Some(100),
            load_percent: Some(201),
        };
        let found: Vec<_> = shortages(&LIMITS, &reading, &[]).iter().map(|one| one.aspect).collect();
        assert_eq!(found, [MachineAspect::MemoryPressure, MachineAspect::Load, MachineAspect::Disk]);
        assert_eq!(shortages(&LIMITS, &MachineReading::default(), &[]), []);
    }

    #[test]
    fn a_shortage_says_what_is_there_and_what_is_wanted() {
        let short = shortages(&LIMITS, &memory(12), &[]);
        assert_eq!(short[0].to_string(), "12 MB of memory left, 1000 MB wanted");
    }
}
