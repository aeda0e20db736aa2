//! How a run moves: what the agent reported, held against what Baton sees, and what follows.

use baton_agents::driver::run_result::RunResult;
use baton_core::ask::fallback::dangerous_again;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::recipe::RecipeStep;
use baton_core::recipe::outcome::OutcomeMistake;
use baton_core::recipe::outcome::{OTHER, Outcome};
use baton_core::recipe::outcome_parser;
use baton_core::recipe::run::{Advance, Contradiction, GitObservation, Run, RunObservation, StepReport};
use baton_core::task::attempt::{AttemptReport, AttemptResult};
use baton_core::task::{Purpose, Task};
use tracing::Span;

use crate::attempt::ending::{Ending, Listening, Then, overtaken};
use crate::attempt::evidence::Spent;
use crate::attempt::executor::Executor;
use crate::attempt::journal::{RunJournal, has_to_be_heard};
use crate::attempt::settlement::wants_code;
use crate::base::error::EngineError;
use crate::runs::gate;
use crate::runs::moved;

/// Ready tasks counted when an agent says there are none.
const READY_MAX: u32 = 100;

/// What was said, and whether the agent said it itself.
pub(crate) struct Said {
    report: StepReport,
    is_claim: bool,
}

/// The outcome the agent reported, or its mistake. Where a step has a default, silence is not one, and neither is
/// what it still gets wrong after a reminder: the evidence decides then. But "other", even without a word, is not done.
pub(crate) fn said(step: &RecipeStep, run: &Run, ended: &RunResult) -> Said {
    let allowed = step.outcomes();
    let heard = match &ended.outcome {
        Some(said) => Outcome::report(&said.name, said.description.as_deref(), &allowed),
        None => outcome_parser::parse(&ended.reported.output, &allowed),
    };
    match (heard, step.default_outcome()) {
        (Ok(outcome), _) => Said { report: StepReport::Outcome(outcome), is_claim: true },
        (Err(OutcomeMistake::OtherWithoutDescription), Some(_)) if run.was_reminded() => {
            let other = allowed.iter().find(|name| name.as_str() == OTHER);
            let outcome = other.map(|name| Outcome { name: name.clone(), description: None });
            let report = outcome
                .map_or(StepReport::Mistake(OutcomeMistake::OtherWithoutDescription), StepReport::Outcome);
            Said { report, is_claim: true }
        }
        (Err(mistake), Some(default)) if mistake == OutcomeMistake::NoneFound || run.was_reminded() => {
            let outcome = Outcome { name: default.clone(), description: None };
            Said { report: StepReport::Outcome(outcome), is_claim: false }
        }
        (Err(mistake), _) => Said { report: StepReport::Mistake(mistake), is_claim: true },
    }
}

/// Planning it destroys nothing.
fn is_dangerous(task: &Task) -> bool {
    task.spec().task_type == TaskType::DangerousOp && !task.is_breakdown()
}

impl Executor<'_> {
    /// Moves the run by what was reported, and does what follows.
    pub(crate) async fn advance(
        &self,
        book: &mut RunJournal,
        spent: &Spent,
        said: &Said,
        text: String,
    ) -> Result<Then, EngineError> {
        let report = &said.report;
        let mut decision = self.context.tasks.decision(self.task.id());
        loop {
            let (session, mut unheard) = book.unheard().await?;
            unheard.retain(has_to_be_heard);
            if !unheard.is_empty() && is_dangerous(self.task) {
                let why = "somebody wrote to it while it worked, and it ended without having read that";
                return self.ask_to_run_again(book, spent, why, &text).await;
            }
            if !unheard.is_empty() {
                // Somebody spoke while the agent worked: it hears that before anything follows from its report.
                if book.write(book.run.clone(), session, Vec::new()).await? {
                    return Ok(Then::GoOn);
                }
                match overtaken(book).await? {
                    Some(then) => return Ok(then),
                    None => decision.again().await?,
                }
                continue;
            }
            let (observed, seen) = self.observe(book, said).await?;
            let (run, advance) = book.run.advance(&book.recipe, report, &observed)?;
            let outcome = match report {
                StepReport::Outcome(outcome) => Some(outcome),
                StepReport::Mistake(_) => None,
            };
            if let Some(outcome) = outcome {
                Span::current().record("outcome", outcome.name.as_str());
            }
            let events = moved(&run, &advance, outcome.map(|outcome| &outcome.name));
            let error = match &report {
                StepReport::Mistake(mistake) => NonBlank::new(mistake.to_string()).ok(),
                StepReport::Outcome(_) => None,
            };
            let ending = match advance.clone() {
                Advance::Exit { reason } => {
                    Ending::Exits { reason, outcome: outcome.cloned(), text: text.clone(), error }
                }
                Advance::AskGate { question } => {
                    let question = gate::question(&book.recipe, &run, &question);
                    let reported = AttemptReport::new(AttemptResult::Asked { question }, text.clone());
                    Ending::Pauses { reported, run }
                }
                Advance::Restart { .. } if book.recipe.takes_task() => {
                    Ending::MovesOn { text: text.clone(), run, events }
                }
                // Another run would burn more turns on the same.
                Advance::Remind { .. } if wants_code(self.task) && spent.is_burned_out(seen) => {
                    let reported = AttemptReport::new(AttemptResult::TurnLimit, text.clone());
                    Ending::Pauses { reported, run: book.run.clone() }
                }
                Advance::Restart { .. }
                | Advance::EnterStep { .. }
                | Advance::Remind { .. }
                | Advance::StayInPhase => {
                    let again = self.reason_to_ask_first(&advance, &run);
                    if book.write(run, session, events).await? {
                        return match again {
                            Some(why) => self.ask_to_run_again(book, spent, &why, &text).await,
                            None => Ok(Then::GoOn),
                        };
                    }
                    match overtaken(book).await? {
                        Some(then) => return Ok(then),
                        None => decision.again().await?,
                    }
                    continue;
                }
            };
            match self.end(book, spent, ending, Listening::Yes(session)).await? {
                Then::Listen => decision.again().await?,
                then @ (Then::GoOn | Then::End(_)) => return Ok(then),
            }
        }
    }

    /// I22: why the agent of a dangerous operation would work on a step it has been at before. Nobody knows what it did
    /// there outside its worktree, so a person decides.
    fn reason_to_ask_first(&self, advance: &Advance, run: &Run) -> Option<String> {
        if !is_dangerous(self.task) {
            return None;
        }
        match advance {
            Advance::Remind { error, .. } => Some(format!("its report cannot be used (\"{error}\")")),
            Advance::EnterStep { from, to, .. } if run.visits(to) > 1 => {
                Some(format!("the step \"{from}\" sends it back to the step \"{to}\""))
            }
            Advance::Restart { .. } => Some("its recipe begins again".to_owned()),
            Advance::StayInPhase => Some("its step goes on".to_owned()),
            Advance::EnterStep { .. } | Advance::AskGate { .. } | Advance::Exit { .. } => None,
        }
    }

    /// Ends the attempt with the question whether its agent may run again, where the run stands now.
    async fn ask_to_run_again(
        &self,
        book: &mut RunJournal,
        spent: &Spent,
        why: &str,
        text: &str,
    ) -> Result<Then, EngineError> {
        let mut decision = self.context.tasks.decision(self.task.id());
        loop {
            let result = AttemptResult::Asked { question: dangerous_again(why).quoting(text) };
            let reported = AttemptReport::new(result, text);
            let ending = Ending::Pauses { reported, run: book.run.clone() };
            match self.end(book, spent, ending, Listening::No).await? {
                Then::Listen => decision.again().await?,
                then @ (Then::GoOn | Then::End(_)) => return Ok(then),
            }
        }
    }

    /// What Baton itself sees, to hold against the report.
    async fn observe(
        &self,
        book: &RunJournal,
        said: &Said,
    ) -> Result<(RunObservation, GitObservation), EngineError> {
        let measured = self.worktrees.measure(self.checkout).await?;
        let seen = GitObservation {
            commits: measured.commits,
            uncommitted: measured.uncommitted,
            files_changed: measured.files_changed,
        };
        let contradiction = match &said.report {
            StepReport::Outcome(outcome) if said.is_claim && wants_code(self.task) => {
                let step = book.recipe.step(book.run.step());
                Contradiction::in_git(outcome, &step.map(RecipeStep::outcomes).unwrap_or_default(), seen)
            }
            StepReport::Outcome(_) | StepReport::Mistake(_) => None,
        };
        let ready_count = self.ready_count().await?;
        let spec = self.task.spec();
        let is_own = book.recipe.takes_task() && spec.purpose == Purpose::Work;
        let own = format!("{} {}", spec.id, spec.title);
        let own_task = is_own.then(|| NonBlank::or(&own, spec.title.clone()));
        Ok((RunObservation { ready_count, own_task, progress: seen.commits > 0, contradiction }, seen))
    }

    /// How many other tasks are ready in the queue.
    async fn ready_count(&self) -> Result<u32, EngineError> {
        let spec = self.task.spec();
        let ready = self.context.tasks.ready(READY_MAX).await?;
        let scope = self.context.tasks.scope_of(spec.project_id).await?;
        let fits = |task: &Task| {
            task.spec().purpose == Purpose::Work
                && scope.contains(task.spec().project_id)
                && task.spec().role == spec.role
        };
        let count = ready.iter().filter(|stored| fits(&stored.value)).count();
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }
}
