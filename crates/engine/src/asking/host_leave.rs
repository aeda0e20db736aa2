//! Leave to reach a host: where `network_ask = true`, a person is asked about the hosts that a fence refused, and what they say
//! holds for the task.

use std::collections::BTreeSet;

use baton_agents::fence::host_pattern::HostPattern;
use baton_core::ask::choice::YesNo;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::ask::question_record::QuestionState;
use baton_core::base::id::TaskId;
use baton_core::base::text::{BlankText, NonBlank};
use baton_store::model::query::QuestionFilter;

use crate::base::error::EngineError;
use crate::tasks::service::TaskService;

/// Questions of one task that are looked through. Beyond them a person is asked again.
const QUESTIONS_MAX: u32 = 200;
/// How the question begins, by which it is found again.
const BEGINS: &str = "May the agent reach these hosts?";
/// What stands before each host.
const BULLET: &str = "- ";
/// Ports that a host without a port means; others are named.
const WEB_PORTS: [&str; 2] = [":443", ":80"];

/// What the people of a task have said about hosts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HostLeave {
    /// As they were refused: `host:port`.
    allowed: BTreeSet<String>,
    denied: BTreeSet<String>,
}

impl HostLeave {
    /// Only a person's own word counts, no policy's.
    pub async fn look(tasks: &TaskService, task: TaskId) -> Result<Self, EngineError> {
        let filter = QuestionFilter { task: Some(task), ..QuestionFilter::default() };
        let asked = tasks.store.questions(&filter, None, QUESTIONS_MAX).await?;
        let mut leave = Self::default();
        for record in asked.items.into_iter().map(|stored| stored.value) {
            let QuestionState::Answered { answer, answered_by, .. } = record.state else { continue };
            let draft = record.question.draft;
            if draft.kind != QuestionKind::Permission || answered_by.is_automatic() {
                continue;
            }
            let Ok(said) = YesNo::read(answer.as_str()) else { continue };
            let hosts = hosts_in(draft.text.as_str());
            match said {
                YesNo::Yes => leave.allowed.extend(hosts),
                YesNo::No => leave.denied.extend(hosts),
            }
        }
        Ok(leave)
    }

    /// What the fence lets through from now on. A web port stands for the host's public addresses; another port, or an
    /// address, for exactly that place.
    pub fn patterns(&self) -> Vec<HostPattern> {
        let pattern = |host: &String| {
            let name = WEB_PORTS.iter().find_map(|port| host.strip_suffix(port)).unwrap_or(host);
            name.parse().ok()
        };
        self.allowed.iter().filter_map(pattern).collect()
    }

    /// The question about those hosts that nobody has decided about; none if all are.
    pub fn question(&self, refused: &BTreeSet<String>) -> Result<Option<QuestionDraft>, BlankText> {
        let is_open = |host: &&String| !self.allowed.contains(*host) && !self.denied.contains(*host);
        let open: Vec<String> =
            refused.iter().filter(is_open).map(|host| format!("{BULLET}{host}")).collect();
        if open.is_empty() {
            return Ok(None);
        }
        let text = format!(
            "{BEGINS}\n\n{}\n\nIt tried to while it worked on this task, and its fence refused: the settings do not name \
             them.\n\nYES: they can be reached for this task, and the agent goes on. NO: it goes on without them.",
            open.join("\n")
        );
        let mut draft = QuestionDraft::new(QuestionKind::Permission, NonBlank::new(text)?);
        draft.options =
            YesNo::OPTIONS.iter().map(|option| NonBlank::new(*option)).collect::<Result<_, _>>()?;
        Ok(Some(draft))
    }
}

fn hosts_in(text: &str) -> impl Iterator<Item = String> {
    let hosts = text.strip_prefix(BEGINS).unwrap_or_default().lines();
    hosts.filter_map(|line| line.strip_prefix(BULLET)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_question_stands_alone_and_is_read_again() {
        let refused = hosts(&["api.example.org:443", "10.0.0.7:5000"]);
        let draft = HostLeave::default().question(&refused).unwrap().unwrap();
        assert_eq!(draft.missing_context(), [], "{}", draft.text);
        assert_eq!(hosts_in(draft.text.as_str()).collect::<BTreeSet<_>>(), refused);
        assert_eq!(hosts_in("Which port?\n- 80").count(), 0, "another question");
    }

    #[test]
    fn what_was_decided_is_not_asked_again() {
        let leave = HostLeave { allowed: hosts(&["a.example:443"]), denied: hosts(&["b.example:22"]) };
        assert_eq!(leave.question(&hosts(&["a.example:443", "b.example:22"])).unwrap(), None);
        let draft = leave.question(&hosts(&["a.example:443", "c.example:443"])).unwrap().unwrap();
        assert_eq!(hosts_in(draft.text.as_str()).collect::<Vec<_>>(), ["c.example:443"]);
        let patterns: Vec<String> = leave.patterns().iter().map(ToString::to_string).collect();
        assert_eq!(patterns, ["a.example"]);
    }
}
