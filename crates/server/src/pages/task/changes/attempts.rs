//! Which states of the work are compared: the branch with its target, one attempt with its start, or two attempts.

use baton_core::base::git_name::CommitId;
use baton_core::base::time::Timestamp;
use baton_core::task::Task;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_core::task::ledger::TaskNote;
use maud::{Markup, html};

use crate::http::error::ApiError;
use crate::pages::frame::response::PageError;
use crate::pages::task::changes::files::View;
use crate::state::App;

/// As the address says it, by the numbers of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comparison {
    /// None: the commit that `to` started from.
    pub from: Option<u32>,
    /// None: the task's branch as it is.
    pub to: Option<u32>,
}

/// An attempt that ended with a commit.
struct EndedAttempt {
    number: u32,
    ended: Timestamp,
    base: CommitId,
    head: CommitId,
}

pub(super) struct Compared {
    wanted: Comparison,
    measured: Vec<EndedAttempt>,
}

impl Compared {
    pub(super) async fn load(app: &App, task: &Task, wanted: Comparison) -> Result<Self, PageError> {
        let records = app.tasks().store.attempts(task.id()).await?;
        Ok(Self { wanted, measured: records.iter().filter_map(measured).collect() })
    }

    /// Whether the whole work is shown.
    pub(super) fn is_whole(&self) -> bool {
        self.wanted.to.is_none()
    }

    fn find(&self, number: u32) -> Result<&EndedAttempt, PageError> {
        let missing =
            || ApiError::not_found(format!("attempt {number} left no commit"), "choose another attempt");
        Ok(self.measured.iter().find(|attempt| attempt.number == number).ok_or_else(missing)?)
    }

    pub(super) async fn diff(&self, app: &App, task: &Task) -> Result<String, PageError> {
        let Some(to) = self.wanted.to else { return Ok(app.workspace.projects.diff(task).await?) };
        let to = self.find(to)?;
        let from = match self.wanted.from {
            Some(from) => &self.find(from)?.head,
            None => &to.base,
        };
        Ok(app.workspace.projects.diff_between(task, from, &to.head).await?)
    }

    /// The last attempt that the person had seen when they asked for changes.
    fn reviewed(&self, task: &Task) -> Option<&EndedAttempt> {
        let said = task.ledger().notes.iter().rev().find_map(|note| match note {
            TaskNote::Rejected { at, .. } => Some(*at),
            _ => None,
        })?;
        self.measured.iter().rev().find(|attempt| attempt.ended <= said)
    }
}

fn measured(record: &AttemptRecord) -> Option<EndedAttempt> {
    let AttemptClosing::Ended { at, end } = record.closing.as_ref()? else { return None };
    let (base, head) = (end.verified.base.clone()?, end.verified.head.clone()?);
    (base != head).then_some(EndedAttempt { number: record.attempt.number, ended: *at, base, head })
}

/// The links to other comparisons and to the other view.
pub(super) fn picker(task: &Task, compared: &Compared, view: View) -> Markup {
    let id = task.id();
    let (wanted, all) = (compared.wanted, &compared.measured);
    let reviewed = compared.reviewed(task).map(|attempt| attempt.number);
    let last = all.last().map(|attempt| attempt.number);
    let since = reviewed.zip(last).filter(|(from, to)| from < to);
    let link = |word: &str, from: Option<u32>, to: Option<u32>, view: View| {
        let mut parts = Vec::new();
        parts.extend(from.map(|from| format!("from={from}")));
        parts.extend(to.map(|to| format!("to={to}")));
        parts.extend((view == View::Split).then(|| "view=split".to_owned()));
        let address = format!("/tasks/{id}/diff?{}", parts.join("&"));
        (word.to_owned(), address, wanted == Comparison { from, to })
    };
    let mut links = vec![link("All changes", None, None, view)];
    if all.len() > 1 {
        links.extend(
            all.iter().map(|each| link(&format!("Attempt {}", each.number), None, Some(each.number), view)),
        );
    }
    if let Some((from, to)) = since {
        links.push(link("Since your last review", Some(from), Some(to), view));
    } else if let [.., before, newest] = all.as_slice() {
        let word = format!("{} → {}", before.number, newest.number);
        links.push(link(&word, Some(before.number), Some(newest.number), view));
    }
    let (other, word) = match view {
        View::Unified => (View::Split, "Side by side"),
        View::Split => (View::Unified, "One column"),
    };
    let (word, address, _) = link(word, wanted.from, wanted.to, other);
    html! {
        p.attempts {
            @if links.len() > 1 { @for (word, address, is_current) in &links { a href=(address) aria-current=[is_current.then_some("true")] { (word) } " " } }
            a.button.quiet href=(address) { (word) }
        }
    }
}
