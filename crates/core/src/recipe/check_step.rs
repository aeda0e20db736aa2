//! Validates one step: its outcomes, where each leads, and its gate.

use std::collections::BTreeMap;

use crate::base::text::{OutcomeName, StepName, nearest};
use crate::recipe::checker::RecipeChecker;
use crate::recipe::exit_reason::ExitReason;
use crate::recipe::fault::ErrorLocation;
use crate::recipe::reach::StepEdge;
use crate::recipe::{
    GateDraft, Lenient, OUTCOMES_PER_STEP_MAX, OrderedMap, PROMPT_BYTES_MAX, RecipeErrorKind, RecipeGate,
    RecipeStep, StepDraft, StepTransition, TEXT_BYTES_MAX, TransitionDraft,
};

impl RecipeChecker {
    pub(super) fn step(
        &mut self,
        here: &ErrorLocation,
        raw: &str,
        name: Option<StepName>,
        draft: StepDraft,
    ) -> Option<RecipeStep> {
        self.unknown_keys(here, &draft.extra, StepDraft::KEYS);
        let prompt = self.text(&here.field("prompt"), draft.prompt, PROMPT_BYTES_MAX);
        let outcomes = self.outcomes(&here.field("outcomes"), draft.outcomes);
        let transitions = self.transitions(here, raw, draft.on_outcome, outcomes.as_deref());
        let default_outcome = draft.default_outcome.and_then(|name| {
            self.listed_outcome(&here.field("default_outcome"), Some(name), outcomes.as_deref())
        });
        let fresh = draft.fresh.and_then(|fresh| self.shaped(&here.field("fresh"), fresh, "true or false"));
        let role = draft.role.and_then(|role| self.name(&here.field("role"), Some(role)));
        let model =
            draft.model.and_then(|model| self.text(&here.field("model"), Some(model), TEXT_BYTES_MAX));
        let gate = draft.gate.and_then(|gate| self.gate(&here.field("gate"), gate, outcomes.as_deref()));
        Some(RecipeStep {
            name: name?,
            prompt: prompt?,
            transitions: transitions?,
            default_outcome,
            fresh: fresh.unwrap_or(false),
            role,
            model: model.map(String::from),
            gate,
        })
    }

    /// The names as written, for other checks to compare with.
    fn outcomes(
        &mut self,
        place: &ErrorLocation,
        given: Option<Lenient<Vec<Lenient<String>>>>,
    ) -> Option<Vec<String>> {
        let given = self.required(place, given, "a list of outcomes")?;
        if given.is_empty() {
            return self.note(place, RecipeErrorKind::Missing, "there is no outcome; write at least one");
        }
        if given.len() > OUTCOMES_PER_STEP_MAX {
            let message =
                format!("there are {} outcomes; at most {OUTCOMES_PER_STEP_MAX} are allowed", given.len());
            return self.note(place, RecipeErrorKind::TooMany, message);
        }
        let mut names: Vec<String> = Vec::new();
        for (index, name) in given.into_iter().enumerate() {
            let here = place.field(index.to_string());
            let Some(name) = self.shaped(&here, name, "an outcome's name") else { continue };
            let _: Option<OutcomeName> = self.parsed(&here, &name);
            if names.contains(&name) {
                self.fault(
                    &here,
                    RecipeErrorKind::Duplicate,
                    format!("the outcome \"{name}\" is listed twice"),
                );
            } else {
                names.push(name);
            }
        }
        Some(names)
    }

    /// I11: the outcomes and the transitions name the same set, or the recipe is invalid.
    fn transitions(
        &mut self,
        here: &ErrorLocation,
        step: &str,
        given: Option<Lenient<OrderedMap<Lenient<TransitionDraft>>>>,
        outcomes: Option<&[String]>,
    ) -> Option<Vec<(OutcomeName, StepTransition)>> {
        let place = here.field("on_outcome");
        let given = self.required(&place, given, "a mapping from outcomes to transitions")?.0;
        if given.len() > OUTCOMES_PER_STEP_MAX {
            let message =
                format!("there are {} transitions; at most {OUTCOMES_PER_STEP_MAX} are allowed", given.len());
            return self.note(&place, RecipeErrorKind::TooMany, message);
        }
        let keys: Vec<String> = given.iter().map(|(name, _)| name.clone()).collect();
        let mut found: BTreeMap<String, Option<StepTransition>> = BTreeMap::new();
        for (name, draft) in given {
            let at = place.field(&name);
            if let Some(outcomes) = outcomes
                && !outcomes.contains(&name)
            {
                let message = format!("\"{name}\" is not among the step's outcomes; list it or drop this");
                let near = nearest(&name, outcomes.iter().map(String::as_str));
                let fault = at.fault(RecipeErrorKind::TransitionWithoutOutcome, message).hinting(near);
                self.faults.push(fault);
            }
            let (transition, edge) = self.transition(&at, draft);
            self.edges.entry(step.to_owned()).or_default().push(edge);
            if found.insert(name.clone(), transition).is_some() {
                self.fault(
                    &at,
                    RecipeErrorKind::Duplicate,
                    format!("the outcome \"{name}\" has two transitions"),
                );
            }
        }
        for name in outcomes?.iter().filter(|name| !keys.contains(name)) {
            let message = format!("the outcome \"{name}\" has no transition; say where it leads");
            let near = nearest(name, keys.iter().map(String::as_str));
            self.faults.push(place.fault(RecipeErrorKind::OutcomeWithoutTransition, message).hinting(near));
        }
        outcomes?.iter().map(|name| Some((name.parse().ok()?, found.remove(name)??))).collect()
    }

    fn transition(
        &mut self,
        at: &ErrorLocation,
        given: Lenient<TransitionDraft>,
    ) -> (Option<StepTransition>, StepEdge) {
        const FORMS: &str = "next_step, exit or restart_new_session: true";
        let Some(draft) = self.shaped(at, given, "a mapping with next_step, exit or restart_new_session")
        else {
            return (None, StepEdge::Unclear);
        };
        self.unknown_keys(at, &draft.extra, TransitionDraft::KEYS);
        // `restart_new_session: false` means the same as leaving the key out.
        let restart = draft.restart_new_session.filter(|restart| *restart != Lenient::Fits(false));
        match (draft.next_step, draft.exit, restart) {
            (Some(name), None, None) => self.next_step(&at.field("next_step"), name),
            (None, Some(reason), None) => (self.exit(&at.field("exit"), reason), StepEdge::Exit),
            (None, None, Some(restart)) => {
                let wanted = self.shaped(&at.field("restart_new_session"), restart, "true");
                (wanted.map(|_| StepTransition::RestartNewSession), StepEdge::Restart)
            }
            (None, None, None) => {
                self.fault(
                    at,
                    RecipeErrorKind::NotOneForm,
                    format!("it leads nowhere; write one of {FORMS}"),
                );
                (None, StepEdge::Unclear)
            }
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
                self.fault(
                    at,
                    RecipeErrorKind::NotOneForm,
                    format!("it leads two ways; keep one of {FORMS}"),
                );
                (None, StepEdge::Unclear)
            }
        }
    }

    fn next_step(
        &mut self,
        at: &ErrorLocation,
        given: Lenient<String>,
    ) -> (Option<StepTransition>, StepEdge) {
        let Some(name) = self.shaped(at, given, "a step's name") else { return (None, StepEdge::Unclear) };
        let (step, edge) = self.step_reference(at, &name);
        (step.map(|step| StepTransition::NextStep { step }), edge)
    }

    fn exit(&mut self, at: &ErrorLocation, given: Lenient<String>) -> Option<StepTransition> {
        let text = self.shaped(at, given, "an exit reason")?;
        match ExitReason::new(&text) {
            Ok(reason) if reason.is_of_baton() => {
                let message =
                    format!("\"{reason}\" is how Baton says that it stopped a run itself; name your own");
                self.note(at, RecipeErrorKind::BadExitReason, message)
            }
            Ok(reason) => Some(StepTransition::Exit { reason }),
            Err(refusal) => self.note(at, RecipeErrorKind::BadExitReason, refusal.to_string()),
        }
    }

    fn gate(
        &mut self,
        at: &ErrorLocation,
        given: Lenient<GateDraft>,
        outcomes: Option<&[String]>,
    ) -> Option<RecipeGate> {
        let draft = self.shaped(at, given, "a mapping with question, yes and, where wanted, no")?;
        self.unknown_keys(at, &draft.extra, GateDraft::KEYS);
        let question = self.text(&at.field("question"), draft.question, TEXT_BYTES_MAX);
        let yes = self.listed_outcome(&at.field("yes"), draft.yes, outcomes);
        let no = draft.no.and_then(|no| self.listed_outcome(&at.field("no"), Some(no), outcomes));
        if yes.is_some() && yes == no {
            self.fault(&at.field("no"), RecipeErrorKind::Duplicate, "YES and NO stand for the same outcome");
        }
        Some(RecipeGate { question: question?, yes: yes?, no })
    }

    /// A name that must be one of the step's outcomes.
    fn listed_outcome(
        &mut self,
        at: &ErrorLocation,
        given: Option<Lenient<String>>,
        outcomes: Option<&[String]>,
    ) -> Option<OutcomeName> {
        let name = self.required(at, given, "one of the step's outcomes")?;
        if let Some(outcomes) = outcomes
            && !outcomes.contains(&name)
        {
            let near = nearest(&name, outcomes.iter().map(String::as_str));
            let message = format!("\"{name}\" is not one of the step's outcomes");
            self.faults.push(at.fault(RecipeErrorKind::UnknownOutcome, message).hinting(near));
        }
        name.parse().ok()
    }
}
