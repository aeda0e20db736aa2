//! How accepted work gets into its branch, as topics.

use std::fmt::Write;

use baton_core::base::accept_policy::AcceptPolicy;

pub(super) const LANDING: &str = "\
Accepting is a decision; landing makes it true. Accepted work waits in the lane of its branch.
The checks run on the branch together with the work, and the branch moves to exactly the commit
that passed. Without checks, accepted work is merged at once.

Ends
  landed       the branch has it; baton task show TASK names the checks, the commit and its base
  waiting      it keeps its place: behind others, for a task that it was started on, or for a branch
               that fails its checks without it
  sent back    it fails together with the branch, conflicts with it, or contains commits that were
               withdrawn or rejected since; its agent gets the reason, the second time you are asked

Look
  baton landing                who waits, for whom, and what the checks said
  baton landing --follow       the output of the checks as it comes
  baton accept --all --dry-run what would become of each task
  baton doctor                 checks that cannot run, unprotected files, landed work that is gone

Settings: checks, check_timeout_seconds, protect, accept_when, start_on, checks_at_once
See also: baton explain accept, baton explain start_on
";

pub(super) const START_ON: &str = "\
When a task starts that depends on others (start_on in .agent/baton.toml).

  done         once their work has landed; this is what holds without the setting
  landing      as soon as their work is accepted: the task starts on top of it, and lands after it

With landing, a task lands only after what it was started on. If that goes back to its agent, the
task waits. If it is then done anew with other commits, the task goes back too once those have
landed, and its agent leaves the old ones out. If it is cancelled, the task comes back to you.

See also: baton explain landing
";

pub(super) fn accept() -> String {
    let mut text =
        String::from("Who accepts finished work (accept_when in .agent/baton.toml, or of a task).\n\n");
    for policy in AcceptPolicy::ALL {
        let means = match policy {
            AcceptPolicy::Person => "you: baton accept TASK; this is what holds without the setting",
            AcceptPolicy::Green => "Baton, and it lands once the checks have passed",
            AcceptPolicy::Reviewed => "the same, once another agent has reviewed it and agrees",
        };
        let _ = writeln!(text, "  {:<12} {means}", policy.as_str());
    }
    text.push_str(
        "
Work that carries a mark waits for you under each of them: a protected or large file, conflict
markers, a stopped run, an open question, a burned-out attempt. Without checks, or commands that
verify the task, nothing but you accepts.

  baton accept TASK            accept it, and wait until it has landed
  baton accept TASK --no-wait  the same without waiting
  baton accept TASK --dry-run  merge it for real, and move no branch
  baton accept TASK --force    accept what needs a closer look; once more: past the checks
  baton reject TASK            send it back, with your reason

Exit code 1: something was sent back or did not land; 0 also when something only waits.
See also: baton explain landing
",
    );
    text
}

#[cfg(test)]
mod tests {
    use crate::explain::topics::{self, ExplainTopic};

    #[test]
    fn how_work_lands_is_explained_under_the_names_that_people_look_for() {
        for (name, part) in [
            ("landing", "sent back"),
            ("Landing", "baton landing --follow"),
            ("accept", "--force"),
            ("accept_when", "reviewed"),
            ("start_on", "as soon as their work is accepted"),
            ("start-on", "baton explain landing"),
        ] {
            let text = topics::text(ExplainTopic::find(name).unwrap());
            assert!(text.contains(part), "{name}: {text}");
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{name}: {text}");
        }
        assert_eq!(ExplainTopic::find("landings"), None);
    }
}
