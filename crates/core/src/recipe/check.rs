//! The check that makes a recipe of a draft, or lists everything that is wrong with it.
//!
//! Each function takes one piece, notes the faults it finds and returns the piece if it could be made. A
//! piece that was wanted and is missing always has a fault, so a list of faults is never empty.

use std::collections::BTreeSet;

use crate::base::text::{StepName, nearest};
use crate::recipe::checker::Checker;
use crate::recipe::fault::Place;
use crate::recipe::reach::{self, Edge};
use crate::recipe::{
    Fault, FaultKind, GUARDRAIL_MAX, Guardrails, GuardrailsDraft, InOrder, Loose, Recipe, RecipeDraft,
    STEPS_MAX, Step, StepDraft, TEXT_BYTES_MAX,
};

pub(super) fn check(draft: RecipeDraft) -> Result<Recipe, Vec<Fault>> {
    let mut checker = Checker::default();
    let recipe = checker.recipe(draft);
    if let Some(recipe) = &recipe {
        checker.phases(recipe);
    }
    match recipe {
        Some(recipe) if checker.faults.is_empty() => Ok(recipe),
        Some(_) | None => Err(checker.faults),
    }
}

impl Checker {
    fn recipe(&mut self, draft: RecipeDraft) -> Option<Recipe> {
        let top = Place::default();
        self.unknown_keys(&top, &draft.extra, RecipeDraft::KEYS);
        let id = self.name(&top.field("id"), draft.id);
        let label = self.text(&top.field("label"), draft.label, TEXT_BYTES_MAX);
        let description = self.text(&top.field("description"), draft.description, TEXT_BYTES_MAX);
        let takes_task =
            draft.takes_task.and_then(|takes| self.shaped(&top.field("takes_task"), takes, "true or false"));
        let guardrails = draft.guardrails.and_then(|given| self.guardrails(&top.field("guardrails"), given));
        let step_drafts = self.required(&top.field("steps"), draft.steps, "a mapping of steps");
        self.steps =
            step_drafts.iter().flat_map(|drafts| drafts.0.iter().map(|(name, _)| name.clone())).collect();
        let initial_step = self.initial_step(&top.field("initial_step"), draft.initial_step);
        let steps = self.steps(&top.field("steps"), step_drafts?);
        let (initial_step, initial_edge) = initial_step?;
        self.reach(&initial_edge);
        Some(Recipe {
            id: id?,
            label: label?,
            description: description?,
            initial_step: initial_step?,
            takes_task: takes_task.unwrap_or(false),
            steps: steps?,
            guardrails: guardrails.unwrap_or_default(),
        })
    }

    /// The name itself, and the edge it stands for in the graph, where there is any.
    fn initial_step(
        &mut self,
        place: &Place,
        given: Option<Loose<String>>,
    ) -> Option<(Option<StepName>, Edge)> {
        let name = self.required(place, given, "a step's name")?;
        Some(self.step_reference(place, &name))
    }

    pub(super) fn step_reference(&mut self, place: &Place, name: &str) -> (Option<StepName>, Edge) {
        if self.steps.iter().any(|known| known == name) {
            // A bad name that does exist is a fault of the step, noted there.
            return (name.parse().ok(), Edge::To(name.to_owned()));
        }
        if self.steps.is_empty() {
            // That there are no steps is the fault, and it is noted.
            return (None, Edge::Unclear);
        }
        let near = nearest(name, self.steps.iter().map(String::as_str)).map(str::to_owned);
        let fault = if name.trim().is_empty() {
            place.fault(FaultKind::Blank, "it is blank; name a step")
        } else {
            place.fault(FaultKind::UnknownStep, format!("there is no step \"{name}\""))
        };
        self.faults.push(fault.hinting(near.as_deref()));
        (None, near.map_or(Edge::Unclear, Edge::To))
    }

    /// Past the limit the steps are not looked into: that many faults help nobody.
    fn steps(&mut self, place: &Place, drafts: InOrder<Loose<StepDraft>>) -> Option<Vec<Step>> {
        if drafts.0.is_empty() {
            return self.note(place, FaultKind::Missing, "there is no step; write at least one");
        }
        if drafts.0.len() > STEPS_MAX {
            let message = format!("there are {} steps; at most {STEPS_MAX} are allowed", drafts.0.len());
            return self.note(place, FaultKind::TooMany, message);
        }
        let mut seen = BTreeSet::new();
        let mut steps = Vec::new();
        for (name, draft) in drafts.0 {
            let here = Place::of_step(&name);
            self.edges.entry(name.clone()).or_default();
            if !seen.insert(name.clone()) {
                self.fault(&here, FaultKind::Duplicate, "the step is written twice");
            }
            let parsed: Option<StepName> = self.parsed(&here, &name);
            let draft = self.shaped(&here, draft, "a mapping with prompt, outcomes and on_outcome");
            steps.push(draft.and_then(|draft| self.step(&here, &name, parsed, draft)));
        }
        steps.into_iter().collect()
    }

    fn guardrails(&mut self, at: &Place, given: Loose<GuardrailsDraft>) -> Option<Guardrails> {
        let draft = self.shaped(at, given, "a mapping with max_step_visits and max_total_steps")?;
        self.unknown_keys(at, &draft.extra, GuardrailsDraft::KEYS);
        let defaults = Guardrails::default();
        let visits = self.guardrail(&at.field("max_step_visits"), draft.max_step_visits);
        let total = self.guardrail(&at.field("max_total_steps"), draft.max_total_steps);
        Some(Guardrails {
            max_step_visits: visits.unwrap_or(defaults.max_step_visits),
            max_total_steps: total.unwrap_or(defaults.max_total_steps),
        })
    }

    fn guardrail(&mut self, at: &Place, given: Option<Loose<i64>>) -> Option<u32> {
        let number = self.shaped(at, given?, "a whole number")?;
        if let Ok(limit @ 1..=GUARDRAIL_MAX) = u32::try_from(number) {
            return Some(limit);
        }
        let message = format!("it is {number}; write a whole number from 1 to {GUARDRAIL_MAX}");
        self.note(at, FaultKind::OutOfRange, message)
    }

    /// A name with a fault counts as the one it hints at here, so that one typing mistake is reported
    /// once and not again as a step that nothing leads to.
    fn reach(&mut self, initial: &Edge) {
        let Edge::To(initial) = initial else { return };
        if self.steps.len() > STEPS_MAX {
            return;
        }
        let reachable = reach::reachable(&self.edges, initial);
        let leaving = reach::leaving(&self.edges, initial);
        if !self.edges.is_empty() && leaving.is_empty() {
            let at = Place::default().field("steps");
            self.fault(&at, FaultKind::NoWayToExit, "no step reaches an exit; let one outcome exit");
        }
        for step in self.steps.clone() {
            let here = Place::of_step(&step);
            if !reachable.contains(&step) {
                let message = format!("nothing leads here from \"{initial}\"; lead here or drop the step");
                self.fault(&here, FaultKind::UnreachableStep, message);
            }
            if !leaving.is_empty() && !leaving.contains(&step) {
                let message = "no exit can be reached from here; only a guardrail would end the run";
                self.fault(&here, FaultKind::NoWayToExit, message);
            }
        }
    }
}
