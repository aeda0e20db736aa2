//! How many jobs build tools may start, so that all who build on this machine share its processors.

use crate::projects::Projects;
use crate::projects::leased_values::Values;

impl Projects {
    /// For an attempt, or for checks that run beside the attempts; `beside` is how many of those there are. How much of the
    /// machine there is to share is for the person who runs Baton to say.
    pub(crate) fn build_jobs(&self, beside: usize) -> Values {
        if self.serving.room.share_build_jobs {
            build_jobs(self.running.count().saturating_add(beside), |name| std::env::var(name).ok())
        } else {
            Values::new()
        }
    }
}

/// What tells build tools how many jobs are this attempt's share of the processors.
fn build_jobs(running: usize, own: impl Fn(&str) -> Option<String>) -> Values {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = (processors / running.max(1)).max(1);
    let value_of = |name: &str| own(name).unwrap_or_else(|| jobs.to_string());
    let names = ["CARGO_BUILD_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL"];
    let mut values: Values = names.iter().map(|name| ((*name).to_owned(), value_of(name))).collect();
    // Make runs one job unless it is told otherwise, and not every Makefile can do with more.
    if let Some(flags) = own("MAKEFLAGS") {
        values.insert("MAKEFLAGS".to_owned(), with_jobs(&flags, jobs));
    }
    values
}

/// A `-j` becomes this one. How to reach an outer make that counts jobs is of no use here.
fn with_jobs(flags: &str, jobs: usize) -> String {
    let is_own = |flag: &&str| !flag.starts_with("--jobserver");
    let is_jobs = |flag: &str| flag.starts_with("-j") || flag.starts_with("--jobs");
    let shared = |flag: &str| if is_jobs(flag) { format!("-j{jobs}") } else { flag.to_owned() };
    flags.split_whitespace().filter(is_own).map(shared).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_shared_by_those_who_run() {
        let unset = |_: &str| None;
        let alone: usize = build_jobs(1, unset)["CARGO_BUILD_JOBS"].parse().unwrap();
        assert_eq!(alone, std::thread::available_parallelism().map_or(1, usize::from));
        assert_eq!(build_jobs(10_000, unset)["CMAKE_BUILD_PARALLEL_LEVEL"], "1");
        let set = |name: &str| match name {
            "CARGO_BUILD_JOBS" => Some("7".to_owned()),
            "MAKEFLAGS" => Some("-k -j8 --jobserver-auth=3,4".to_owned()),
            _ => None,
        };
        let values = build_jobs(10_000, set);
        assert_eq!((values["CARGO_BUILD_JOBS"].as_str(), values["MAKEFLAGS"].as_str()), ("7", "-k -j1"));
    }
}
