//! Looks at the machine: memory, pressure, load and disk, as the system tells them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use baton_core::limits::machine::{MachineLimits, MachineReading, MachineShortage, shortages};

use crate::settings::location::StateLocation;
use crate::settings::room::RoomSettings;

/// For tests: a folder that is read in the place of `/proc`, with a file `disk` beside.
const READINGS: &str = "BATON_MACHINE_READINGS";
/// A reading this young is used again.
const FRESH: Duration = Duration::from_secs(1);

/// The memory of the machine, used or not.
pub fn memory_mb() -> Option<u64> {
    let proc = std::env::var_os(READINGS).map_or_else(|| PathBuf::from("/proc"), PathBuf::from);
    field_mb(&fs::read_to_string(proc.join("meminfo")).ok()?, "MemTotal:")
}

/// The machine, as Baton last saw it. Clones share what was seen.
#[derive(Clone)]
pub struct Machine {
    source: Arc<ReadingSource>,
    limits: MachineLimits,
    seen: Arc<Mutex<MachineSight>>,
}

struct ReadingSource {
    proc: PathBuf,
    /// The file system that work is written to.
    state_dir: PathBuf,
    /// What is told of its free space, in a test.
    disk: Option<PathBuf>,
}

#[derive(Default)]
struct MachineSight {
    at: Option<Instant>,
    reading: MachineReading,
    short: Vec<MachineShortage>,
}

impl Machine {
    pub fn new(place: &StateLocation, room: &RoomSettings) -> Self {
        let given = std::env::var_os(READINGS).map(PathBuf::from);
        let source = ReadingSource {
            disk: given.as_ref().map(|folder| folder.join("disk")),
            proc: given.unwrap_or_else(|| PathBuf::from("/proc")),
            state_dir: place.state_dir.clone(),
        };
        Self { source: Arc::new(source), limits: room.limits(), seen: Arc::default() }
    }

    /// What is short for another agent; nothing if one fits.
    pub fn shortages(&self) -> Vec<MachineShortage> {
        self.look().short.clone()
    }

    pub fn reading(&self) -> MachineReading {
        self.look().reading
    }

    fn look(&self) -> MutexGuard<'_, MachineSight> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.at.is_none_or(|at| at.elapsed() >= FRESH) {
            let reading = self.source.read();
            seen.short = shortages(&self.limits, &reading, &seen.short);
            seen.reading = reading;
            seen.at = Some(Instant::now());
        }
        seen
    }
}

impl ReadingSource {
    fn read(&self) -> MachineReading {
        let text = |name: &str| fs::read_to_string(self.proc.join(name)).ok();
        MachineReading {
            memory_free_mb: text("meminfo").and_then(|text| available_mb(&text)),
            disk_free_mb: self.disk_free_mb(),
            memory_pressure_percent: text("pressure/memory").and_then(|text| pressure(&text)),
            cpu_pressure_percent: text("pressure/cpu").and_then(|text| pressure(&text)),
            load_percent: text("loadavg").and_then(|text| load(&text)),
        }
    }

    fn disk_free_mb(&self) -> Option<u64> {
        match &self.disk {
            Some(file) => fs::read_to_string(file).ok()?.trim().parse().ok(),
            None => free_mb(&self.state_dir),
        }
    }
}

fn free_mb(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize) >> 20)
}

fn available_mb(meminfo: &str) -> Option<u64> {
    field_mb(meminfo, "MemAvailable:")
}

/// `MemAvailable:   1234 kB`
fn field_mb(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    let kb: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kb / 1024)
}

/// `some avg10=12.34 avg60=…`
fn pressure(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some avg10="))?;
    whole(some.split_whitespace().next()?)
}

/// `1.50 1.20 …`, as a percentage of the processors.
fn load(text: &str) -> Option<u64> {
    let processors = u64::try_from(std::thread::available_parallelism().map_or(1, usize::from)).unwrap_or(1);
    let hundredths: String = text.split_whitespace().next()?.chars().filter(|c| *c != '.').collect();
    Some(hundredths.parse::<u64>().ok()? / processors)
}

/// The part before the point.
fn whole(number: &str) -> Option<u64> {
    number.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_read_as_it_writes() {
        let meminfo = "MemTotal:       24000000 kB\nMemFree:   1 kB\nMemAvailable:    2097152 kB\n";
        assert_eq!(available_mb(meminfo), Some(2048));
        assert_eq!(pressure("some avg10=12.34 avg60=0.00 avg300=0.00 total=1\nfull avg10=99.00\n"), Some(12));
        assert_eq!(whole("0.00"), Some(0));
        assert!(load("123.45 1.00 1.00 1/100 1").is_some());
        for text in ["", "MemAvailable:", "some avg10=x", "x"] {
            assert_eq!((available_mb(text), pressure(text), load(text)), (None, None, None));
        }
    }
}
