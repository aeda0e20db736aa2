//! Validates a draft: builds the recipe, or lists everything that is wrong with it.
//!
//! Each function takes one part, records the errors it finds and returns the part if it could be built. A missing
//! required part always records an error, so a list of errors is never empty.

use std::collections::BTreeSet;

use crate::base::text::{StepName, nearest};
use crate::recipe::checker::RecipeChecker;
use crate::recipe::fault::ErrorLocation;
use crate::recipe::reach::{self, StepEdge};
use crate::recipe::{
    GUARDRAIL_MAX, Guardrails, GuardrailsDraft, Lenient, OrderedMap, Recipe, RecipeDraft, RecipeError,
    RecipeErrorKind, RecipeStep, STEPS_MAX, StepDraft, TEXT_BYTES_MAX,
};

pub(super) fn check(draft: RecipeDraft) -> Result<Recipe, Vec<RecipeError>> {
    let mut checker = RecipeChecker::default();
    let recipe = checker.recipe(draft);
    if let Some(recipe) = &recipe {
        checker.phases(recipe);
    }
    match recipe {
        Some(recipe) if checker.faults.is_empty() => Ok(recipe),
        Some(_) | None => Err(checker.faults),
    }
}

impl RecipeChecker {
    fn recipe(&mut self, draft: RecipeDraft) -> Option<Recipe> {
        let top = ErrorLocation::default();
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

    /// The step's name, and its edge in the step graph, if any.
    fn initial_step(
        &mut self,
        place: &ErrorLocation,
        given: Option<Lenient<String>>,
    ) -> Option<(Option<StepName>, StepEdge)> {
        let name = self.required(place, given, "a step's name")?;
        Some(self.step_reference(place, &name))
    }

    pub(super) fn step_reference(
        &mut self,
        place: &ErrorLocation,
        name: &str,
    ) -> (Option<StepName>, StepEdge) {
        if self.steps.iter().any(|known| known == name) {
            // A bad name that does exist is an error of the step, recorded there.
            return (name.parse().ok(), StepEdge::To(name.to_owned()));
        }
        if self.steps.is_empty() {
            // The missing steps are the error, and it is recorded.
            return (None, StepEdge::Unclear);
        }
        let near = nearest(name, self.steps.iter().map(String::as_str)).map(str::to_owned);
        let fault = if name.trim().is_empty() {
            place.fault(RecipeErrorKind::Blank, "it is blank; name a step")
        } else {
            place.fault(RecipeErrorKind::UnknownStep, format!("there is no step \"{name}\""))
        };
        self.faults.push(fault.hinting(near.as_deref()));
        (None, near.map_or(StepEdge::Unclear, StepEdge::To))
    }

    /// Beyond the limit the steps are not checked: that many errors help nobody.
    fn steps(
        &mut self,
        place: &ErrorLocation,
        drafts: OrderedMap<Lenient<StepDraft>>,
    ) -> Option<Vec<RecipeStep>> {
        if drafts.0.is_empty() {
            return self.note(place, RecipeErrorKind::Missing, "there is no step; write at least one");
        }
        if drafts.0.len() > STEPS_MAX {
            let message = format!("there are {} steps; at most {STEPS_MAX} are allowed", drafts.0.len());
            return self.note(place, RecipeErrorKind::TooMany, message);
        }
        let mut seen = BTreeSet::new();
        let mut steps = Vec::new();
        for (name, draft) in drafts.0 {
            let here = ErrorLocation::of_step(&name);
            self.edges.entry(name.clone()).or_default();
            if !seen.insert(name.clone()) {
                self.fault(&here, RecipeErrorKind::Duplicate, "the step is written twice");
            }
            let parsed: Option<StepName> = self.parsed(&here, &name);
            let draft = self.shaped(&here, draft, "a mapping with prompt, outcomes and on_outcome");
            steps.push(draft.and_then(|draft| self.step(&here, &name, parsed, draft)));
        }
        steps.into_iter().collect()
    }

    fn guardrails(&mut self, at: &ErrorLocation, given: Lenient<GuardrailsDraft>) -> Option<Guardrails> {
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

    fn guardrail(&mut self, at: &ErrorLocation, given: Option<Lenient<i64>>) -> Option<u32> {
        let number = self.shaped(at, given?, "a whole number")?;
        if let Ok(limit @ 1..=GUARDRAIL_MAX) = u32::try_from(number) {
            return Some(limit);
        }
        let message = format!("it is {number}; write a whole number from 1 to {GUARDRAIL_MAX}");
        self.note(at, RecipeErrorKind::OutOfRange, message)
    }

    /// A misspelled name counts as the one it resembles here, so that one typo is reported once and not again as an
    /// unreachable step.
    fn reach(&mut self, initial: &StepEdge) {
        let StepEdge::To(initial) = initial else { return };
        if self.steps.len() > STEPS_MAX {
            return;
        }
        let reachable = reach::reachable(&self.edges, initial);
        let leaving = reach::reaching_exit(&self.edges, initial);
        if !self.edges.is_empty() && leaving.is_empty() {
            let at = ErrorLocation::default().field("steps");
            self.fault(&at, RecipeErrorKind::NoWayToExit, "no step reaches an exit; let one outcome exit");
        }
        for step in self.steps.clone() {
            let here = ErrorLocation::of_step(&step);
            if !reachable.contains(&step) {
                let message = format!("nothing leads here from \"{initial}\"; lead here or drop the step");
                self.fault(&here, RecipeErrorKind::UnreachableStep, message);
            }
            if !leaving.is_empty() && !leaving.contains(&step) {
                let message = "no exit can be reached from here; only a guardrail would end the run";
                self.fault(&here, RecipeErrorKind::NoWayToExit, message);
            }
        }
    }
}
