//! A gate: the one question that ends a phase, as it is asked of the human and as their answer moves the run.
//!
//! The answer settles the question of the task and moves the run in one transaction (I7): there is no moment at
//! which one of them has happened and the other has not.

use baton_core::ask::choice;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::id::TaskId;
use baton_core::base::text::{NonBlank, OutcomeName};
use baton_core::people::actor::Actor;
use baton_core::recipe::run::{Advance, GateAnswer, Run, RunState};
use baton_core::recipe::{Recipe, RecipeGate, RecipeStep, StepTransition};
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};

use crate::base::error::Result;
use crate::runs::{Runs, moved, stamp};

/// The words offered, and what each means to the run.
const ANSWERS: [(&str, GateAnswer); 2] = [("YES", GateAnswer::Yes), ("NO", GateAnswer::No)];

impl Runs {
    /// What an answer to the question of `task` does to the run that waits at its gate. Nothing, where no run does.
    pub(crate) async fn gate_change(&self, task: TaskId, answer: &NonBlank, actor: &Actor) -> Result<Change> {
        let waiting = self.tasks.task(task).await?.value;
        let is_gate =
            waiting.state().pending_question().is_some_and(|asked| asked.kind() == QuestionKind::Gate);
        if !is_gate {
            return Ok(Change::new());
        }
        let Some(open) = self.task_run(task).await? else { return Ok(Change::new()) };
        if !matches!(open.value.state(), RunState::AtGate { .. }) {
            return Ok(Change::new());
        }
        let recipe = self.recipe_of(&open.value)?;
        let mut change = Change::new();
        let (run, events) = answered(&open, &recipe, read(answer)?)?;
        change = change.put(Record::Run(Box::new(run)), WriteGuard::Version(open.version));
        stamp(&mut change, events, self.tasks.store.now().await?, actor);
        Ok(change)
    }
}

fn read(answer: &NonBlank) -> Result<GateAnswer> {
    let words = ANSWERS.map(|(word, _)| word);
    let index = choice::pick(answer.as_str(), &words)?;
    Ok(ANSWERS.get(index).map_or(GateAnswer::No, |(_, answer)| *answer))
}

fn answered(
    open: &Versioned<Run>,
    recipe: &Recipe,
    answer: GateAnswer,
) -> Result<(Run, Vec<baton_core::records::event::EventBody>)> {
    let (run, advance) = open.value.answer_gate(recipe, answer)?;
    if let Advance::Exit { reason } = advance {
        // Its task has gone back to the queue with this answer; the next claim settles it by this reason.
        return Ok((open.value.begin_exit(reason)?, Vec::new()));
    }
    let outcome = gate_of(recipe, &open.value).and_then(|gate| stands_for(gate, answer));
    let events = moved(&run, &advance, outcome);
    Ok((run, events))
}

fn gate_of<'a>(recipe: &'a Recipe, run: &Run) -> Option<&'a RecipeGate> {
    recipe.step(run.step()).and_then(RecipeStep::gate)
}

fn stands_for(gate: &RecipeGate, answer: GateAnswer) -> Option<&OutcomeName> {
    match answer {
        GateAnswer::Yes => Some(gate.yes()),
        GateAnswer::No => gate.no(),
    }
}

/// The question of a gate, complete in itself: what is to be decided, the situation, and what each answer leads to.
pub(crate) fn question(recipe: &Recipe, run: &Run, asked: &NonBlank) -> QuestionDraft {
    let reported = match run.state() {
        RunState::AtGate { reported, .. } => reported.description.as_ref(),
        RunState::Working | RunState::Leaving { .. } | RunState::Exited { .. } => None,
    };
    let situation = reported.map(|words| format!("\n\n{words}")).unwrap_or_default();
    let leads = ANSWERS.map(|(word, answer)| format!("\n- {word}: {}", leads_to(recipe, run, answer)));
    let text = format!(
        "{asked}\n\nThe step \"{}\" of \"{}\" says it is done.{situation}\n{}\n\nTo end the run here and keep its work, answer \
         \"stop\".",
        run.step(),
        recipe.label(),
        leads.concat()
    );
    let mut draft = QuestionDraft::new(QuestionKind::Gate, NonBlank::or(&text, asked.clone()));
    draft.options = ANSWERS.iter().filter_map(|(word, _)| NonBlank::new(*word).ok()).collect();
    draft
}

fn leads_to(recipe: &Recipe, run: &Run, answer: GateAnswer) -> String {
    let step = recipe.step(run.step());
    let outcome = step.and_then(RecipeStep::gate).and_then(|gate| stands_for(gate, answer));
    match outcome.and_then(|outcome| step.and_then(|step| step.transition(outcome))) {
        Some(StepTransition::NextStep { step }) => format!("the step \"{step}\" follows"),
        Some(StepTransition::Exit { reason }) => format!("the run ends ({reason})"),
        Some(StepTransition::RestartNewSession) => "it begins again, with a new agent session".to_owned(),
        None => "the agent goes on in this step".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use baton_core::base::id::RunId;
    use baton_core::recipe::outcome::Outcome;
    use baton_core::recipe::run::{RunObservation, StepReport};

    use super::*;

    const RECIPE: &str = "id: gated\nlabel: Gated\ndescription: One gate\ninitial_step: draft\nsteps:\n  draft:\n    \
                          prompt: Go.\n    outcomes: [ready, stop]\n    gate: { question: \"Publish it?\", yes: ready, no: stop }\n    \
                          on_outcome: { ready: { exit: published }, stop: { exit: stopped } }\n";

    #[test]
    fn the_question_of_a_recipes_gate_stands_alone() {
        let recipe = crate::settings::recipes::parse(RECIPE, Path::new("gated.yml")).unwrap();
        let run = Run::start(RunId::from_bits(1), &recipe, "sess_1".parse().unwrap(), None);
        let ready = Outcome { name: "ready".parse().unwrap(), description: None };
        let (run, advance) =
            run.advance(&recipe, &StepReport::Outcome(ready), &RunObservation::default()).unwrap();
        let Advance::AskGate { question: asked } = advance else { panic!("{advance:?}") };
        let draft = question(&recipe, &run, &asked);
        assert_eq!(draft.missing_context(), [], "{}", draft.text);
    }
}
