//! Checks: commands of the user's, run over finished work. Their exit codes are evidence.
//!
//! A check runs what an agent wrote, so it runs like one: in the attempt's worktree, in a process group of its own,
//! with the allow-list's variables only, within limits, and nothing of its tree is left when it ends.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use baton_agents::ended::Exit;
use baton_agents::environment::Environment;
use baton_agents::errand::{self, Errand, ErrandEnd};
use baton_core::attempt::Check;
use baton_core::id::AttemptId;
use baton_core::redact::redact;
use baton_core::text::NonBlank;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use tokio::sync::watch;

/// A check that takes longer has failed.
const CHECK_TIMEOUT: Duration = Duration::from_mins(15);
/// What is kept of a check's output, beginning and end; enough to see what is wrong, and it goes into a prompt.
const OUTPUT_BYTES_MAX: usize = 8_000;
/// What the exit code of a check is when there is none: it could not be started, or did not end by itself.
const NO_EXIT_CODE: i32 = -1;
/// More than anyone waits for after each attempt.
const CHECKS_MAX: usize = 20;

/// One check: what people call it, and what is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSpec {
    pub name: NonBlank,
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
}

/// All checks of the settings, in order of their names. Whatever way a check is written down there, it has become a
/// name and a command here, and nobody further on has to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks(Vec<CheckSpec>);

/// By name, as people write them.
impl Serialize for Checks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|check| (&check.name, &check.command)))
    }
}

impl Checks {
    pub fn iter(&self) -> impl Iterator<Item = &CheckSpec> {
        self.0.iter()
    }

    /// Runs all of them, one after the other, in the worktree. None when somebody asked for a stop meanwhile.
    pub async fn run_all(
        &self,
        attempt: AttemptId,
        worktree: &Path,
        stop: &mut watch::Receiver<bool>,
    ) -> Option<Vec<Check>> {
        // Not what the settings let an agent see: a check has no use for a model's key.
        let environment = Environment::allowed(std::env::vars_os(), &[]);
        let mut results = Vec::new();
        for check in &self.0 {
            let errand = Errand {
                attempt,
                command: check.command.clone(),
                folder: worktree.to_owned(),
                environment: environment.clone(),
                timeout: CHECK_TIMEOUT,
                output_bytes_max: OUTPUT_BYTES_MAX,
            };
            let returned = errand::run(&errand, stop).await;
            let (exit_code, output_tail) = match returned.how {
                ErrandEnd::Stopped => return None,
                ErrandEnd::Exited(Exit::Code(code)) => (code, returned.output),
                ErrandEnd::Exited(Exit::Signal(signal)) => {
                    (NO_EXIT_CODE, format!("{}It was ended by signal {signal}.", returned.output))
                }
                ErrandEnd::Unseen => (NO_EXIT_CODE, format!("{}Its end was not seen.", returned.output)),
                ErrandEnd::TimedOut => {
                    let minutes = CHECK_TIMEOUT.as_secs() / 60;
                    (NO_EXIT_CODE, format!("{}It did not end within {minutes} minutes.", returned.output))
                }
                ErrandEnd::NotStarted(why) => (NO_EXIT_CODE, why),
            };
            let output_tail = redact(&output_tail).into_owned();
            results.push(Check { name: check.name.clone(), exit_code, output_tail });
        }
        Some(results)
    }
}

impl<'de> Deserialize<'de> for Checks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Checks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of names and commands, like test = [\"cargo\", \"test\"]")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Checks, A::Error> {
        let mut checks = Vec::new();
        while let Some((name, command)) = map.next_entry::<String, Vec<String>>()? {
            let name = NonBlank::new(name).map_err(|_| Error::custom("a check has a blank name"))?;
            if command.first().is_none_or(|program| program.trim().is_empty()) {
                return Err(Error::custom(format!("the check \"{name}\" has no command")));
            }
            checks.push(CheckSpec { name, command });
        }
        if checks.len() > CHECKS_MAX {
            return Err(Error::custom(format!("there are {} checks; {CHECKS_MAX} at most", checks.len())));
        }
        checks.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Checks(checks))
    }

    /// Names alone would be user tasks, and those this version cannot run.
    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Checks, A::Error> {
        Err(Error::custom(
            "a check needs its command: write [checks] and then NAME = [\"program\", \"argument\"]",
        ))
    }
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
    fn a_check_that_could_not_run_is_refused_when_it_is_read() {
        assert_eq!(read("[checks]\ntest = []").unwrap_err(), "the check \"test\" has no command");
        assert_eq!(read("[checks]\n\" \" = [\"true\"]").unwrap_err(), "a check has a blank name");
        assert!(read("checks = [\"test\"]").unwrap_err().starts_with("a check needs its command"));
        assert!(read("checks = 3").unwrap_err().contains("a table of names and commands"));
    }
}
