//! The extra rules of the loop's recipe: its phases and gates are fixed (I7, I8), because the loop drives them
//! itself. A repository may change prompts, labels and guardrails, and nothing else.

use crate::phase::Phase;
use crate::recipe::checker::RecipeChecker;
use crate::recipe::fault::ErrorLocation;
use crate::recipe::{Recipe, RecipeErrorKind, RecipeStep, StepTransition};

/// The recipe the loop follows.
pub const LOOP_RECIPE: &str = "plan-execute-review";

/// The one outcome besides its gate's that a phase may end with: there is nothing to plan.
const NOTHING_TO_PLAN: &str = "no-tasks";

/// A phase, where YES at its gate leads, and whether NO leaves the loop.
const PHASES: [(Phase, Phase, bool); 3] = [
    (Phase::Plan, Phase::Execute, false),
    (Phase::Execute, Phase::Review, false),
    (Phase::Review, Phase::Plan, true),
];

impl RecipeChecker {
    pub(super) fn phases(&mut self, recipe: &Recipe) {
        if recipe.id().as_str() != LOOP_RECIPE {
            return;
        }
        let top = ErrorLocation::default();
        let known =
            |step: &RecipeStep| PHASES.iter().any(|(phase, ..)| phase.as_str() == step.name().as_str());
        for step in recipe.steps().iter().filter(|step| !known(step)) {
            let here = ErrorLocation::of_step(step.name().as_str());
            self.loop_error(&here, "the loop has the steps plan, execute and review alone; drop this one");
        }
        if recipe.initial_step().as_str() != Phase::Plan.as_str() {
            self.loop_error(&top.field("initial_step"), "the loop begins with plan");
        }
        if recipe.guardrails().max_total_steps() < u32::try_from(PHASES.len()).unwrap_or(u32::MAX) {
            let at = top.field("guardrails").field("max_total_steps");
            self.loop_error(&at, "one round of the loop has 3 steps; allow at least that many");
        }
        for (phase, after, leaves_on_no) in PHASES {
            match recipe.steps().iter().find(|step| step.name().as_str() == phase.as_str()) {
                Some(step) => self.phase(step, phase, after, leaves_on_no),
                None => {
                    self.loop_error(
                        &top.field("steps"),
                        &format!("the loop has a step \"{phase}\"; write it"),
                    );
                }
            }
        }
    }

    fn phase(&mut self, step: &RecipeStep, phase: Phase, after: Phase, leaves_on_no: bool) {
        let here = ErrorLocation::of_step(phase.as_str());
        if !step.is_fresh() {
            self.loop_error(
                &here.field("fresh"),
                "every phase of the loop has an agent of its own; write true",
            );
        }
        for (field, is_set) in [("role", step.role().is_some()), ("model", step.model().is_some())] {
            if is_set {
                let message = format!("who works in this phase is set in baton.toml, as [roles.{phase}]");
                self.loop_error(&here.field(field), &message);
            }
        }
        let Some(gate) = step.gate() else {
            return self
                .loop_error(&here, &format!("this phase ends with the gate {:?}; write it", words(phase)));
        };
        if gate.question().as_str() != words(phase) {
            self.loop_error(
                &here.field("gate").field("question"),
                &format!("it is asked as {:?}", words(phase)),
            );
        }
        let leads_on = matches!(step.transition(gate.yes()), Some(StepTransition::NextStep { step }) if step.as_str() == after.as_str());
        if !leads_on {
            let message = format!("YES at this gate leads to {after}");
            self.loop_error(&here.field("on_outcome").field(gate.yes().as_str()), &message);
        }
        let no = gate.no().and_then(|no| step.transition(no));
        match (leaves_on_no, no) {
            (true, Some(StepTransition::Exit { .. })) | (false, None) => {}
            (true, _) => {
                self.loop_error(&here.field("gate"), "NO at this gate ends the loop; let it lead to an exit");
            }
            (false, Some(_)) => {
                self.loop_error(
                    &here.field("gate").field("no"),
                    "NO at this gate stays in the phase; drop it",
                );
            }
        }
        let is_known = |name: &str| phase == Phase::Plan && name == NOTHING_TO_PLAN;
        for (outcome, _) in step.transitions() {
            if !gate.stands_for(outcome) && !is_known(outcome.as_str()) {
                let at = here.field("on_outcome").field(outcome.as_str());
                self.loop_error(&at, "only its gate ends this phase; drop the outcome");
            }
        }
    }

    fn loop_error(&mut self, at: &ErrorLocation, message: &str) {
        self.fault(at, RecipeErrorKind::NotTheLoop, message);
    }
}

const fn words(phase: Phase) -> &'static str {
    match phase.gate_text() {
        Some(text) => text,
        // The hub is not a step and is never asked for.
        None => "",
    }
}
