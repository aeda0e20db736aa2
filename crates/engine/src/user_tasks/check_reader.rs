//! Reads checks from the settings: a list of user tasks, or a table of names with commands, user tasks and time limits.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use baton_core::base::text::NonBlank;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::user_tasks::checks::{CheckSpec, Checks, Deed};

/// More than anyone waits for after each attempt.
const CHECKS_MAX: usize = 20;

impl<'de> Deserialize<'de> for Checks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a command like [\"cargo\", \"test\"], or the name of a user task, or a table with one of them as `command` or `task`, and `timeout_seconds`"
)]
enum Written {
    UserTask(String),
    Command(Vec<String>),
    Limited(LimitedCheck),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitedCheck {
    command: Option<Vec<String>>,
    task: Option<String>,
    timeout_seconds: Option<NonZeroU64>,
}

impl<'de> Visitor<'de> for Reader {
    type Value = Checks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names of user tasks, like [\"test\", \"lint\"], or a table of names and commands, like test = [\"cargo\", \"test\"]")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Checks, A::Error> {
        let mut checks = Vec::new();
        while let Some((name, written)) = map.next_entry::<String, Written>()? {
            let (deed, seconds) = match written {
                Written::UserTask(task) => (Deed::UserTask(task.trim().to_owned()), None),
                Written::Command(command) => (Deed::Command(command), None),
                Written::Limited(LimitedCheck { command, task, timeout_seconds }) => match (command, task) {
                    (Some(command), None) => (Deed::Command(command), timeout_seconds),
                    (None, Some(task)) => (Deed::UserTask(task.trim().to_owned()), timeout_seconds),
                    (Some(_), Some(_)) | (None, None) => {
                        return Err(Error::custom(format!(
                            "the check \"{name}\" needs either `command` or `task`"
                        )));
                    }
                },
            };
            let timeout = seconds.map(|seconds| Duration::from_secs(seconds.get()));
            checks.push(CheckSpec { timeout, ..checked(&name, deed)? });
        }
        checks.sort_by(|one, other| one.name.cmp(&other.name));
        few_enough(checks)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Checks, A::Error> {
        let mut checks: Vec<CheckSpec> = Vec::new();
        while let Some(name) = names.next_element::<String>()? {
            let check = checked(name.trim(), Deed::UserTask(name.trim().to_owned()))?;
            if checks.contains(&check) {
                return Err(Error::custom(format!("the check \"{}\" is there twice", check.name)));
            }
            checks.push(check);
        }
        few_enough(checks)
    }
}

fn checked<E: Error>(name: &str, deed: Deed) -> Result<CheckSpec, E> {
    let name = NonBlank::new(name).map_err(|_| E::custom("a check has a blank name"))?;
    let program = match &deed {
        Deed::Command(command) => command.first(),
        Deed::UserTask(task) => Some(task),
    };
    if program.is_none_or(|program| program.trim().is_empty()) {
        return Err(E::custom(format!("the check \"{name}\" has no command")));
    }
    Ok(CheckSpec { name, deed, timeout: None })
}

fn few_enough<E: Error>(checks: Vec<CheckSpec>) -> Result<Checks, E> {
    if checks.len() > CHECKS_MAX {
        return Err(E::custom(format!("there are {} checks; {CHECKS_MAX} at most", checks.len())));
    }
    Ok(Checks(checks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Checks, String> {
        #[derive(Deserialize)]
        struct Settings {
            checks: Checks,
        }
        let read: Result<Settings, _> = toml::from_str(text);
        read.map(|settings| settings.checks).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn checks_have_names_and_commands_and_an_order() {
        let checks = read("[checks]\ntest = [\"cargo\", \"test\"]\nlint = [\"cargo\", \"clippy\"]").unwrap();
        let names: Vec<_> = checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names, ["lint", "test"]);
    }

    #[test]
    fn names_alone_are_user_tasks_in_their_own_order() {
        let checks = read("checks = [\"test\", \"lint\"]").unwrap();
        assert_eq!(checks.user_tasks().collect::<Vec<_>>(), ["test", "lint"]);
        let checks = read("[checks]\nall = \"test:all\"\nlint = [\"cargo\", \"clippy\"]").unwrap();
        assert_eq!(checks.user_tasks().collect::<Vec<_>>(), ["test:all"]);
        assert_eq!(checks.iter().count(), 2);
    }

    #[test]
    fn a_check_may_have_a_time_limit_of_its_own() {
        let checks = read(
            "[checks]\nall = { task = \"test\", timeout_seconds = 60 }\nlint = { command = [\"lint\"] }",
        )
        .unwrap();
        let limits: Vec<_> = checks.iter().map(|check| check.timeout).collect();
        assert_eq!(limits, [Some(Duration::from_mins(1)), None]);
        let shown = serde_json::to_value(&checks).unwrap();
        assert_eq!(shown["all"]["timeout_seconds"], 60, "it is part of what a verdict is about");
        let both = "[checks]\nall = { task = \"test\", command = [\"true\"] }";
        assert_eq!(read(both).unwrap_err(), "the check \"all\" needs either `command` or `task`");
        assert!(read("[checks]\nall = { task = \"test\", timeout_seconds = 0 }").is_err());
    }

    #[test]
    fn a_check_that_could_not_run_is_refused_when_it_is_read() {
        assert_eq!(read("[checks]\ntest = []").unwrap_err(), "the check \"test\" has no command");
        assert_eq!(read("[checks]\n\" \" = [\"true\"]").unwrap_err(), "a check has a blank name");
        assert_eq!(read("checks = [\"test\", \" \"]").unwrap_err(), "a check has a blank name");
        assert_eq!(read("checks = [\"test\", \"test\"]").unwrap_err(), "the check \"test\" is there twice");
        assert!(read("checks = 3").unwrap_err().contains("a table of names and commands"));
        assert!(read("[checks]\ntest = 3").unwrap_err().contains("or the name of a user task"));
    }
}
