//! The notebook of a check, and the small pieces every part of a recipe is made of.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde_json::Value;

use crate::base::text::{BadName, NonBlank, nearest};
use crate::recipe::fault::Place;
use crate::recipe::outcome_parser::kind_of;
use crate::recipe::reach::Edges;
use crate::recipe::{Fault, FaultKind, Loose};

#[derive(Default)]
pub(super) struct Checker {
    pub(super) faults: Vec<Fault>,
    /// The names under `steps`, in order, good and bad ones.
    pub(super) steps: Vec<String>,
    pub(super) edges: Edges,
}

impl Checker {
    pub(super) fn fault(&mut self, at: &Place, kind: FaultKind, message: impl Into<String>) {
        self.faults.push(at.fault(kind, message));
    }

    /// Notes the fault where a value was wanted: there is none.
    pub(super) fn note<T>(&mut self, at: &Place, kind: FaultKind, message: impl Into<String>) -> Option<T> {
        self.fault(at, kind, message);
        None
    }

    pub(super) fn unknown_keys(&mut self, at: &Place, extra: &BTreeMap<String, Value>, known: &[&str]) {
        for key in extra.keys() {
            let message = format!("\"{key}\" is not a key here; the keys are {}", known.join(", "));
            let fault = at.field(key).fault(FaultKind::UnknownKey, message);
            self.faults.push(fault.hinting(nearest(key, known.iter().copied())));
        }
    }

    pub(super) fn shaped<T>(&mut self, at: &Place, given: Loose<T>, wanted: &str) -> Option<T> {
        match given {
            Loose::Fits(value) => Some(value),
            Loose::Misfit(value) => {
                let message = format!("it must be {wanted}, and is {}", kind_of(&value));
                self.note(at, FaultKind::WrongShape, message)
            }
        }
    }

    pub(super) fn required<T>(&mut self, at: &Place, given: Option<Loose<T>>, wanted: &str) -> Option<T> {
        match given {
            Some(given) => self.shaped(at, given, wanted),
            None => self.note(at, FaultKind::Missing, format!("it is missing; write {wanted}")),
        }
    }

    pub(super) fn text(
        &mut self,
        at: &Place,
        given: Option<Loose<String>>,
        bytes_max: usize,
    ) -> Option<NonBlank> {
        let text = self.required(at, given, "a text")?;
        if text.len() > bytes_max {
            let message = format!("it has {} bytes; at most {bytes_max} are allowed", text.len());
            return self.note(at, FaultKind::TooLong, message);
        }
        match NonBlank::new(text) {
            Ok(text) => Some(text),
            Err(refusal) => self.note(at, FaultKind::Blank, refusal.to_string()),
        }
    }

    pub(super) fn name<T: FromStr<Err = BadName>>(
        &mut self,
        at: &Place,
        given: Option<Loose<String>>,
    ) -> Option<T> {
        let name = self.required(at, given, "a name")?;
        self.parsed(at, &name)
    }

    pub(super) fn parsed<T: FromStr<Err = BadName>>(&mut self, at: &Place, name: &str) -> Option<T> {
        match name.parse() {
            Ok(name) => Some(name),
            Err(refusal) => self.note(at, FaultKind::BadName, refusal.to_string()),
        }
    }
}
