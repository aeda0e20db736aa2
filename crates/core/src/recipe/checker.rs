//! Collects the errors of a recipe, and checks the basic values.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde_json::Value;

use crate::base::text::{InvalidName, NonBlank, nearest};
use crate::recipe::fault::ErrorLocation;
use crate::recipe::outcome_parser::kind_of;
use crate::recipe::reach::StepEdges;
use crate::recipe::{Lenient, RecipeError, RecipeErrorKind};

#[derive(Default)]
pub(super) struct RecipeChecker {
    pub(super) faults: Vec<RecipeError>,
    /// The names under `steps`, in order, valid or not.
    pub(super) steps: Vec<String>,
    pub(super) edges: StepEdges,
}

impl RecipeChecker {
    pub(super) fn fault(&mut self, at: &ErrorLocation, kind: RecipeErrorKind, message: impl Into<String>) {
        self.faults.push(at.fault(kind, message));
    }

    /// Records the error in place of a value.
    pub(super) fn note<T>(
        &mut self,
        at: &ErrorLocation,
        kind: RecipeErrorKind,
        message: impl Into<String>,
    ) -> Option<T> {
        self.fault(at, kind, message);
        None
    }

    pub(super) fn unknown_keys(
        &mut self,
        at: &ErrorLocation,
        extra: &BTreeMap<String, Value>,
        known: &[&str],
    ) {
        for key in extra.keys() {
            let message = format!("\"{key}\" is not a key here; the keys are {}", known.join(", "));
            let fault = at.field(key).fault(RecipeErrorKind::UnknownKey, message);
            self.faults.push(fault.hinting(nearest(key, known.iter().copied())));
        }
    }

    pub(super) fn shaped<T>(&mut self, at: &ErrorLocation, given: Lenient<T>, wanted: &str) -> Option<T> {
        match given {
            Lenient::Fits(value) => Some(value),
            Lenient::Misfit(value) => {
                let message = format!("it must be {wanted}, and is {}", kind_of(&value));
                self.note(at, RecipeErrorKind::WrongShape, message)
            }
        }
    }

    pub(super) fn required<T>(
        &mut self,
        at: &ErrorLocation,
        given: Option<Lenient<T>>,
        wanted: &str,
    ) -> Option<T> {
        match given {
            Some(given) => self.shaped(at, given, wanted),
            None => self.note(at, RecipeErrorKind::Missing, format!("it is missing; write {wanted}")),
        }
    }

    pub(super) fn text(
        &mut self,
        at: &ErrorLocation,
        given: Option<Lenient<String>>,
        bytes_max: usize,
    ) -> Option<NonBlank> {
        let text = self.required(at, given, "a text")?;
        if text.len() > bytes_max {
            let message = format!("it has {} bytes; at most {bytes_max} are allowed", text.len());
            return self.note(at, RecipeErrorKind::TooLong, message);
        }
        match NonBlank::new(text) {
            Ok(text) => Some(text),
            Err(refusal) => self.note(at, RecipeErrorKind::Blank, refusal.to_string()),
        }
    }

    pub(super) fn name<T: FromStr<Err = InvalidName>>(
        &mut self,
        at: &ErrorLocation,
        given: Option<Lenient<String>>,
    ) -> Option<T> {
        let name = self.required(at, given, "a name")?;
        self.parsed(at, &name)
    }

    pub(super) fn parsed<T: FromStr<Err = InvalidName>>(
        &mut self,
        at: &ErrorLocation,
        name: &str,
    ) -> Option<T> {
        match name.parse() {
            Ok(name) => Some(name),
            Err(refusal) => self.note(at, RecipeErrorKind::BadName, refusal.to_string()),
        }
    }
}
