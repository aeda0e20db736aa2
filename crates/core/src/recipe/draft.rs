//! A recipe as written in its file, before validation.
//!
//! Everything is optional, and unknown keys and values of the wrong shape are kept, so that validation can report
//! every error at once.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::recipe::{Recipe, RecipeErrors, RecipeGate, RecipeStep, StepTransition};

/// A value of the expected shape, or whatever was written instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Lenient<T> {
    Fits(T),
    Misfit(Value),
}

/// A mapping in file order; a key that is written twice is kept twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderedMap<V>(pub Vec<(String, V)>);

impl<V: Serialize> Serialize for OrderedMap<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for OrderedMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = OrderedMap<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedMap<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(OrderedMap(entries))
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

macro_rules! draft {
    ($(#[$doc:meta])* $type:ident { $($field:ident: $shape:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct $type {
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<Lenient<$shape>>,
            )+
            /// Unknown keys.
            #[serde(flatten)]
            pub extra: BTreeMap<String, Value>,
        }

        impl $type {
            pub const KEYS: &'static [&'static str] = &[$(stringify!($field)),+];
        }
    };
}

draft!(
    /// A recipe file.
    RecipeDraft {
        id: String,
        label: String,
        description: String,
        initial_step: String,
        takes_task: bool,
        steps: OrderedMap<Lenient<StepDraft>>,
        guardrails: GuardrailsDraft,
    }
);
draft!(
    /// One entry of `steps`.
    StepDraft {
        prompt: String,
        outcomes: Vec<Lenient<String>>,
        on_outcome: OrderedMap<Lenient<TransitionDraft>>,
        default_outcome: String,
        fresh: bool,
        role: String,
        model: String,
        gate: GateDraft,
    }
);
draft!(
    /// One entry of `on_outcome`: exactly one of the three keys.
    TransitionDraft { next_step: String, exit: String, restart_new_session: bool }
);
draft!(
    /// A step's `gate`.
    GateDraft { question: String, yes: String, no: String }
);
draft!(
    /// A recipe's `guardrails`.
    GuardrailsDraft { max_step_visits: i64, max_total_steps: i64 }
);

impl TryFrom<RecipeDraft> for Recipe {
    type Error = RecipeErrors;

    fn try_from(draft: RecipeDraft) -> Result<Self, RecipeErrors> {
        Self::check(draft).map_err(RecipeErrors)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "every field of a draft is optional")]
fn fits<T>(value: T) -> Option<Lenient<T>> {
    Some(Lenient::Fits(value))
}

impl From<Recipe> for RecipeDraft {
    fn from(recipe: Recipe) -> Self {
        let steps = recipe.steps.into_iter().map(|step| (step.name.to_string(), Lenient::Fits(step.into())));
        Self {
            id: fits(recipe.id.into()),
            label: fits(recipe.label.into()),
            description: fits(recipe.description.into()),
            initial_step: fits(recipe.initial_step.into()),
            takes_task: recipe.takes_task.then_some(Lenient::Fits(true)),
            steps: fits(OrderedMap(steps.collect())),
            guardrails: fits(GuardrailsDraft {
                max_step_visits: fits(recipe.guardrails.max_step_visits.into()),
                max_total_steps: fits(recipe.guardrails.max_total_steps.into()),
                extra: BTreeMap::new(),
            }),
            extra: BTreeMap::new(),
        }
    }
}

impl From<RecipeStep> for StepDraft {
    fn from(step: RecipeStep) -> Self {
        let outcomes = step.outcomes().into_iter().map(|name| Lenient::Fits(name.into()));
        let on_outcome = step
            .transitions
            .iter()
            .map(|(name, transition)| (name.to_string(), Lenient::Fits(TransitionDraft::from(transition))));
        Self {
            outcomes: fits(outcomes.collect()),
            on_outcome: fits(OrderedMap(on_outcome.collect())),
            prompt: fits(step.prompt.into()),
            default_outcome: step.default_outcome.map(|name| Lenient::Fits(name.into())),
            fresh: step.fresh.then_some(Lenient::Fits(true)),
            role: step.role.map(|role| Lenient::Fits(role.into())),
            model: step.model.map(Lenient::Fits),
            gate: step.gate.map(|gate| Lenient::Fits(gate.into())),
            extra: BTreeMap::new(),
        }
    }
}

impl From<&StepTransition> for TransitionDraft {
    fn from(transition: &StepTransition) -> Self {
        match transition {
            StepTransition::NextStep { step } => {
                Self { next_step: fits(step.to_string()), ..Self::default() }
            }
            StepTransition::Exit { reason } => Self { exit: fits(reason.to_string()), ..Self::default() },
            StepTransition::RestartNewSession => Self { restart_new_session: fits(true), ..Self::default() },
        }
    }
}

impl From<RecipeGate> for GateDraft {
    fn from(gate: RecipeGate) -> Self {
        Self {
            question: fits(gate.question.into()),
            yes: fits(gate.yes.into()),
            no: gate.no.map(|no| Lenient::Fits(no.into())),
            extra: BTreeMap::new(),
        }
    }
}
