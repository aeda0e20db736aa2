//! What a recipe must look like to be the loop's: its phases and gates are fixed (I7, I8), because the loop walks them
//! by itself. A repository may word the prompts, labels and guardrails its own way, and nothing else.

use crate::phase::Phase;
use crate::recipe::checker::Checker;
use crate::recipe::fault::Place;
use crate::recipe::{FaultKind, Recipe, Step, Transition};

/// The recipe the loop goes by.
pub const LOOP_RECIPE: &str = "plan-execute-review";

/// The one outcome besides its gate's that a phase may end with: there is nothing to plan.
const NOTHING_TO_PLAN: &str = "no-tasks";

/// A phase, where YES at its gate leads, and whether NO leads out of the loop.
const PHASES: [(Phase, Phase, bool); 3] = [
    (Phase::Plan, Phase::Execute, false),
    (Phase::Execute, Phase::Review, false),
    (Phase::Review, Phase::Plan, true),
];

impl Checker {
    pub(super) fn phases(&mut self, recipe: &Recipe) {
        if recipe.id().as_str() != LOOP_RECIPE {
            return;
        }
        let top = Place::default();
        let known = |step: &Step| PHASES.iter().any(|(phase, ..)| phase.as_str() == step.name().as_str());
        for step in recipe.steps().iter().filter(|step| !known(step)) {
            let here = Place::of_step(step.name().as_str());
            self.of_loop(&here, "the loop has the steps plan, execute and review alone; drop this one");
        }
        if recipe.initial_step().as_str() != Phase::Plan.as_str() {
            self.of_loop(&top.field("initial_step"), "the loop begins with plan");
        }
        if recipe.guardrails().max_total_steps() < u32::try_from(PHASES.len()).unwrap_or(u32::MAX) {
            let at = top.field("guardrails").field("max_total_steps");
            self.of_loop(&at, "one round of the loop has 3 steps; allow at least that many");
        }
        for (phase, after, leaves_on_no) in PHASES {
            match recipe.steps().iter().find(|step| step.name().as_str() == phase.as_str()) {
                Some(step) => self.phase(step, phase, after, leaves_on_no),
                None => {
                    self.of_loop(&top.field("steps"), &format!("the loop has a step \"{phase}\"; write it"));
                }
            }
        }
    }

    fn phase(&mut self, step: &Step, phase: Phase, after: Phase, leaves_on_no: bool) {
        let here = Place::of_step(phase.as_str());
        if !step.is_fresh() {
            self.of_loop(&here.field("fresh"), "every phase of the loop has an agent of its own; write true");
        }
        for (field, is_set) in [("role", step.role().is_some()), ("model", step.model().is_some())] {
            if is_set {
                let message = format!("who works in this phase is set in baton.toml, as [roles.{phase}]");
                self.of_loop(&here.field(field), &message);
            }
        }
        let Some(gate) = step.gate() else {
            return self
                .of_loop(&here, &format!("this phase ends with the gate {:?}; write it", words(phase)));
        };
        if gate.question().as_str() != words(phase) {
            self.of_loop(
                &here.field("gate").field("question"),
                &format!("it is asked as {:?}", words(phase)),
            );
        }
        let leads_on = matches!(step.transition(gate.yes()), Some(Transition::NextStep { step }) if step.as_str() == after.as_str());
        if !leads_on {
            let message = format!("YES at this gate leads to {after}");
            self.of_loop(&here.field("on_outcome").field(gate.yes().as_str()), &message);
        }
        let no = gate.no().and_then(|no| step.transition(no));
        match (leaves_on_no, no) {
            (true, Some(Transition::Exit { .. })) | (false, None) => {}
            (true, _) => {
                self.of_loop(&here.field("gate"), "NO at this gate ends the loop; let it lead to an exit");
            }
            (false, Some(_)) => {
                self.of_loop(&here.field("gate").field("no"), "NO at this gate stays in the phase; drop it");
            }
        }
        let is_known = |name: &str| phase == Phase::Plan && name == NOTHING_TO_PLAN;
        for (outcome, _) in step.transitions() {
            if !gate.stands_for(outcome) && !is_known(outcome.as_str()) {
                let at = here.field("on_outcome").field(outcome.as_str());
                self.of_loop(&at, "only its gate ends this phase; drop the outcome");
            }
        }
    }

    fn of_loop(&mut self, at: &Place, message: &str) {
        self.fault(at, FaultKind::NotTheLoop, message);
    }
}

const fn words(phase: Phase) -> &'static str {
    match phase.gate_text() {
        Some(text) => text,
        // The hub is no step and is not asked for.
        None => "",
    }
}
