//! How a run moves: what the agent reported, held against what Baton sees, and what follows.

use baton_agents::ended::Ended;
use baton_core::attempt::{AttemptResult, Reported};
use baton_core::outcome::Outcome;
use baton_core::outcome_parser;
use baton_core::recipe::{Recipe, Step};
use baton_core::reminder::OutcomeMistake;
use baton_core::run::{Advance, Contradiction, Observed, Report, Run, Seen};
use baton_core::task::{Purpose, Task};
use baton_core::text::NonBlank;
use tracing::Span;

use super::Executor;
use super::book::Book;
use super::ending::{Ending, Then, overtaken};
use super::evidence::Spent;
use super::settlement::wants_code;
use crate::desk::DECISIONS_MAX;
use crate::error::EngineError;
use crate::gate;
use crate::runs::moved;

/// Ready tasks counted when an agent says there are none.
const READY_MAX: u32 = 100;

/// What was said, and whether the agent said it itself.
pub(super) struct Said {
    report: Report,
    is_claim: bool,
}

/// The outcome the agent reported, or its mistake. Where a step has a default, silence is not one, and neither is
/// what it still gets wrong after a reminder: the evidence decides then.
pub(super) fn said(step: &Step, run: &Run, ended: &Ended) -> Said {
    let allowed = step.outcomes();
    let heard = match &ended.outcome {
        Some(said) => Outcome::report(&said.name, said.description.as_deref(), &allowed),
        None => outcome_parser::parse(&ended.reported.output, &allowed),
    };
    match (heard, step.default_outcome()) {
        (Ok(outcome), _) => Said { report: Report::Outcome(outcome), is_claim: true },
        (Err(mistake), Some(default)) if mistake == OutcomeMistake::NoneFound || run.was_reminded() => {
            let outcome = Outcome { name: default.clone(), description: None };
            Said { report: Report::Outcome(outcome), is_claim: false }
        }
        (Err(mistake), _) => Said { report: Report::Mistake(mistake), is_claim: true },
    }
}

impl Executor<'_> {
    /// Moves the run by what was reported, and does what follows.
    pub(super) async fn advance(
        &self,
        book: &mut Book,
        spent: &Spent,
        said: &Said,
        text: String,
    ) -> Result<Then, EngineError> {
        let report = &said.report;
        for _ in 0..DECISIONS_MAX {
            let (session, unheard) = book.unheard().await?;
            if !unheard.is_empty() {
                // Somebody spoke while the agent worked: it hears that before anything follows from its report.
                if book.write(book.run.clone(), session, Vec::new()).await? {
                    return Ok(Then::GoOn);
                }
                match overtaken(book).await? {
                    Some(then) => return Ok(then),
                    None => continue,
                }
            }
            let observed = self.observe(book, said).await?;
            let (run, advance) = book.run.advance(&book.recipe, report, &observed)?;
            let outcome = match report {
                Report::Outcome(outcome) => Some(outcome),
                Report::Mistake(_) => None,
            };
            if let Some(outcome) = outcome {
                Span::current().record("outcome", outcome.name.as_str());
            }
            let events = moved(&run, &advance, outcome.map(|outcome| &outcome.name));
            let error = match &report {
                Report::Mistake(mistake) => NonBlank::new(mistake.to_string()).ok(),
                Report::Outcome(_) => None,
            };
            let ending = match advance {
                Advance::Exit { reason } => {
                    Ending::Exits { reason, outcome: outcome.cloned(), text: text.clone(), error }
                }
                Advance::AskGate { question } => {
                    let question = gate::question(&book.recipe, &run, &question);
                    let reported = Reported::new(AttemptResult::Asked { question }, text.clone());
                    Ending::Pauses { reported, run }
                }
                Advance::Restart { .. } if book.recipe.takes_task() => {
                    Ending::MovesOn { text: text.clone(), run, events }
                }
                Advance::Restart { .. }
                | Advance::EnterStep { .. }
                | Advance::Remind { .. }
                | Advance::StayInPhase => {
                    if book.write(run, session, events).await? {
                        return Ok(Then::GoOn);
                    }
                    match overtaken(book).await? {
                        Some(then) => return Ok(then),
                        None => continue,
                    }
                }
            };
            match self.end(book, spent, ending, session).await? {
                Then::Listen => {}
                then @ (Then::GoOn | Then::End(_)) => return Ok(then),
            }
        }
        Err(EngineError::Restless { task: self.task.id() })
    }

    /// What Baton itself sees, to hold against the report.
    async fn observe(&self, book: &Book, said: &Said) -> Result<Observed, EngineError> {
        let measured = self.worktrees.measure(self.checkout).await?;
        let seen = Seen {
            commits: measured.commits,
            uncommitted: measured.uncommitted,
            files_changed: measured.files_changed,
        };
        let contradiction = match &said.report {
            Report::Outcome(outcome) if said.is_claim && wants_code(self.task) => {
                Contradiction::in_git(outcome, seen)
            }
            Report::Outcome(_) | Report::Mistake(_) => None,
        };
        let ready_count = self.ready_count(&book.recipe).await?;
        Ok(Observed { ready_count, progress: seen.commits > 0, contradiction })
    }

    /// The run's own task, where it took one from the queue, and what else is ready there.
    async fn ready_count(&self, recipe: &Recipe) -> Result<u32, EngineError> {
        let spec = self.task.spec();
        let own = u32::from(recipe.takes_task() && spec.purpose == Purpose::Work);
        let ready = self.shop.desk.ready(READY_MAX).await?;
        let fits = |task: &Task| {
            task.spec().purpose == Purpose::Work
                && task.spec().project_id == spec.project_id
                && task.spec().role == spec.role
        };
        let count = ready.iter().filter(|stored| fits(&stored.value)).count();
        Ok(own.saturating_add(u32::try_from(count).unwrap_or(u32::MAX)))
    }
}
