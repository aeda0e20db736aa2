//! A plan: the validated tasks that a breakdown proposes.
//!
//! A breakdown agent sends a [`PlanDraft`] through the tool `submit_breakdown`. [`Plan::check`] turns it into a plan
//! or lists every error at once, so that one correction is enough. A plan is a proposal: nothing is created before a
//! human approves it.

mod check;
mod draft;
pub(crate) mod verification;
use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

use crate::base::priority::Priority;
use crate::base::text::NonBlank;

pub use draft::{ItemDraft, PlanDraft};

/// A larger plan is a project of its own, and more than a person reads before approving.
pub const ITEMS_MAX: usize = 20;
/// A title is one line in a list.
pub const TITLE_CHARS_MAX: usize = 200;
/// A description goes into a prompt in full; a longer one means that the item is too large.
pub const DESCRIPTION_CHARS_MAX: usize = 10_000;
/// Acceptance criteria and verification steps per item: a checklist, not a specification.
pub const LIST_ITEMS_MAX: usize = 20;
/// Length of one criterion or verification step.
pub const LIST_ITEM_CHARS_MAX: usize = 1_000;

/// One proposed task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanItem {
    pub title: NonBlank,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<NonBlank>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verification: Vec<NonBlank>,
    /// The numbers of the items it waits on, counted from 1, ascending, without repetition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<usize>,
}

/// A valid plan: not empty, no cycles, every number names an item. Deserializing checks again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PlanDraft")]
pub struct Plan {
    items: Vec<PlanItem>,
}

/// One error in a draft.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{}{message}", place(*item, *field))]
pub struct PlanError {
    pub code: PlanErrorCode,
    /// The number of the item, counted from 1; `None` for the plan as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<usize>,
    pub field: PlanField,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanErrorCode {
    EmptyPlan,
    TooMany,
    Blank,
    TooLong,
    DuplicateTitle,
    InvalidPriority,
    NotANumber,
    UnknownItem,
    DependsOnItself,
    Circle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanField {
    Items,
    Title,
    Description,
    Priority,
    AcceptanceCriteria,
    Verification,
    DependsOn,
}

impl PlanField {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Title => "title",
            Self::Description => "description",
            Self::Priority => "priority",
            Self::AcceptanceCriteria => "acceptance_criteria",
            Self::Verification => "verification",
            Self::DependsOn => "depends_on",
        }
    }
}

fn place(item: Option<usize>, field: PlanField) -> String {
    match item {
        Some(number) => format!("item {number}, {}: ", field.as_str()),
        None => format!("{}: ", field.as_str()),
    }
}

/// Every error of a draft, one per line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PlanErrors(pub Vec<PlanError>);

impl fmt::Display for PlanErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl TryFrom<PlanDraft> for Plan {
    type Error = PlanErrors;

    fn try_from(draft: PlanDraft) -> Result<Self, PlanErrors> {
        Self::check(draft).map_err(PlanErrors)
    }
}

/// For people and for the agent that plans again: each item with its number, what it waits on, and all it says. Whoever
/// approves a plan lets its verification commands run, so they are shown.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, item) in (1..).zip(&self.items) {
            let after: Vec<String> = item.depends_on.iter().map(ToString::to_string).collect();
            let after =
                if after.is_empty() { String::new() } else { format!(" (after {})", after.join(", ")) };
            writeln!(f, "{number}. {}{after}", item.title)?;
            for line in item.description.lines().filter(|line| !line.trim().is_empty()) {
                writeln!(f, "   {line}")?;
            }
            for criterion in &item.acceptance_criteria {
                writeln!(f, "   - {criterion}")?;
            }
            for command in &item.verification {
                writeln!(f, "   Verified by: {command}")?;
            }
        }
        Ok(())
    }
}

impl Plan {
    /// The plan, or everything that is wrong with the draft.
    pub fn check(draft: PlanDraft) -> Result<Self, Vec<PlanError>> {
        check::check(draft).map(|items| Self { items })
    }

    pub fn items(&self) -> &[PlanItem] {
        &self.items
    }

    /// Item `number`, counted from 1.
    pub fn item(&self, number: usize) -> Option<&PlanItem> {
        self.items.get(number.checked_sub(1)?)
    }

    /// The items no other item waits on. Whatever waited on the whole waits on these. The last item is always one of
    /// them, since the order of a plan says where it ends.
    pub fn leaves(&self) -> Vec<usize> {
        let last = self.items.len();
        let is_waited_on = |number: &usize| self.items.iter().any(|item| item.depends_on.contains(number));
        (1..=last).filter(|number| *number == last || !is_waited_on(number)).collect()
    }

    /// The text of the task that item `number` becomes, as Markdown.
    pub fn subtask_text(&self, number: usize) -> Option<String> {
        let item = self.item(number)?;
        let mut text = item.description.clone();
        write_list(&mut text, "Acceptance criteria", "- [ ] ", &item.acceptance_criteria);
        write_list(&mut text, "Verification", "- ", &item.verification);
        // The agent works from a task's text; without one it gets the title.
        Some(if text.is_empty() { item.title.to_string() } else { text })
    }
}

fn write_list(text: &mut String, heading: &str, bullet: &str, entries: &[NonBlank]) {
    if entries.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    // Writing to a String cannot fail.
    let _ = writeln!(text, "## {heading}");
    for entry in entries {
        // Indented, so that a further line stays inside its bullet.
        let _ = write!(text, "\n{bullet}{}", entry.as_str().replace('\n', "\n  "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn draft(json: serde_json::Value) -> PlanDraft {
        serde_json::from_value(json).unwrap()
    }

    fn plan(json: serde_json::Value) -> Plan {
        Plan::check(draft(json)).unwrap()
    }

    fn faults(json: serde_json::Value) -> String {
        PlanErrors(Plan::check(draft(json)).unwrap_err()).to_string()
    }

    #[test]
    fn a_draft_accepts_the_forms_models_write() {
        let plan = plan(json!({ "tasks": [
            { "title": "  Parse\n the  file ", "priority": 1, "acceptance_criteria": "It parses", "extra": true },
            { "title": "Print it", "description": null, "priority": "", "depends_on": ["1", "#1", 1, null],
              "verification": ["", "cargo test"] },
            { "title": "Ship it", "depends_on": 2, "acceptance_criteria": null },
        ]}));
        assert_eq!(plan.items()[0].title.as_str(), "Parse the file");
        assert_eq!(plan.items()[0].priority, Some(Priority::P1));
        assert_eq!(plan.items()[0].acceptance_criteria.len(), 1);
        assert_eq!(plan.items()[1].depends_on, [1]);
        assert_eq!(plan.items()[1].verification.len(), 1);
        assert_eq!(plan.items()[2].depends_on, [2]);
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        insta::assert_snapshot!(faults(json!({ "items": [
            { "title": "Add the parser", "priority": "high", "depends_on": [2] },
            { "title": "add: the PARSER!", "depends_on": [1, 9, 0, -1, "two", 2] },
            { "title": " ", "description": "x".repeat(10_001) },
            { "title": "t".repeat(201), "verification": ["v".repeat(1_001)] },
        ]})), @r#"
        item 1, priority: "high" is not a priority; the priorities are P0 (first), P1, P2 (the default) and P3 (last)
        item 2, title: the same title as item 1; merge the two, or say how they differ
        item 2, depends_on: there is no item 9; the items are 1 to 4
        item 2, depends_on: there is no item 0; the items are 1 to 4
        item 2, depends_on: -1 is not an item's number; write numbers, the first item is 1
        item 2, depends_on: "two" is not an item's number; write numbers, the first item is 1
        item 2, depends_on: item 2 cannot wait on itself; leave 2 out
        item 2, depends_on: the items wait on each other in a circle: 2 → 1 → 2; drop one
        item 3, title: the title is blank; say in a few words what is to be done
        item 3, description: 10001 characters; write at most 10000
        item 4, title: 201 characters; write at most 200
        item 4, verification: 1001 characters; write at most 1000
        "#);
    }

    #[test]
    fn empty_and_too_long_plans_are_rejected() {
        insta::assert_snapshot!(faults(json!({})), @"items: the plan is empty; propose at least one task");
        insta::assert_snapshot!(faults(json!({ "items": null })), @"items: the plan is empty; propose at least one task");
        let items: Vec<_> = (0..21).map(|n| json!({ "title": format!("Task {n}") })).collect();
        insta::assert_snapshot!(faults(json!({ "items": items })), @"items: 21 items; propose at most 20, each a task of its own");
        let criteria: Vec<_> = (0..21).map(|n| n.to_string()).collect();
        insta::assert_snapshot!(
            faults(json!({ "items": [{ "title": "a", "acceptance_criteria": criteria }] })),
            @"item 1, acceptance_criteria: 21 entries; write at most 20"
        );
    }

    #[test]
    fn a_cycle_is_shown_by_item_numbers() {
        insta::assert_snapshot!(faults(json!({ "items": [
            { "title": "a", "depends_on": [3] },
            { "title": "b", "depends_on": [1] },
            { "title": "c", "depends_on": [2] },
        ]})), @"item 3, depends_on: the items wait on each other in a circle: 3 → 2 → 1 → 3; drop one");
    }

    #[test]
    fn an_error_has_a_stable_code() {
        let faults = Plan::check(draft(json!({ "items": [{ "title": "" }] }))).unwrap_err();
        insta::assert_snapshot!(serde_json::to_string(&faults).unwrap(), @r#"[{"code":"blank","item":1,"field":"title","message":"the title is blank; say in a few words what is to be done"}]"#);
    }

    #[test]
    fn the_leaves_are_items_nothing_waits_on_and_the_last() {
        let leaves = |edges: &[&[usize]]| {
            let items =
                edges.iter().enumerate().map(|(n, on)| json!({ "title": format!("t{n}"), "depends_on": on }));
            plan(json!({ "items": items.collect::<Vec<_>>() })).leaves()
        };
        assert_eq!(leaves(&[&[]]), [1]);
        assert_eq!(leaves(&[&[], &[1], &[2]]), [3]);
        assert_eq!(leaves(&[&[], &[1], &[1]]), [2, 3]);
        assert_eq!(leaves(&[&[3], &[], &[]]), [1, 2, 3], "3 is waited on, but it is the last");
    }

    #[test]
    fn a_subtask_has_its_criteria_in_its_text() {
        let plan = plan(json!({ "items": [
            { "title": "Parse", "description": "Read the file.",
              "acceptance_criteria": ["Empty files parse", "Bad lines\nare named"], "verification": ["cargo test"] },
            { "title": "Only a title" },
        ]}));
        insta::assert_snapshot!(plan.subtask_text(1).unwrap(), @"
        Read the file.

        ## Acceptance criteria

        - [ ] Empty files parse
        - [ ] Bad lines
          are named

        ## Verification

        - cargo test
        ");
        assert_eq!(plan.subtask_text(2).unwrap(), "Only a title");
        assert_eq!(plan.subtask_text(0), None);
        assert_eq!(plan.subtask_text(3), None);
    }

    #[test]
    fn json_plans_are_validated() {
        let refusal = serde_json::from_value::<Plan>(json!({ "items": [] })).unwrap_err();
        assert!(refusal.to_string().contains("the plan is empty"), "{refusal}");
    }

    fn any_draft() -> impl Strategy<Value = PlanDraft> {
        let item = ("[a-d ]{0,3}", prop::collection::vec(-1_i64..7, 0..4)).prop_map(|(title, on)| {
            ItemDraft { title, depends_on: on.into_iter().map(Into::into).collect(), ..ItemDraft::default() }
        });
        prop::collection::vec(item, 0..7).prop_map(|items| PlanDraft { items })
    }

    proptest! {
        #[test]
        fn a_valid_plan_survives_json(draft in any_draft()) {
            let Ok(plan) = Plan::check(draft) else { return Ok(()) };
            let count = plan.items().len();
            prop_assert!((1..=ITEMS_MAX).contains(&count));
            prop_assert!(plan.leaves().contains(&count));
            // No circle: taking away what waits on nothing left, again and again, leaves nothing.
            let mut left: Vec<usize> = (1..=count).collect();
            while !left.is_empty() {
                let before = left.len();
                let rest = left.clone();
                left.retain(|n| plan.item(*n).unwrap().depends_on.iter().any(|on| rest.contains(on)));
                prop_assert!(left.len() < before, "circle among {left:?}");
            }
            let stored = serde_json::to_string(&plan).unwrap();
            prop_assert_eq!(serde_json::from_str::<Plan>(&stored).unwrap(), plan);
        }
    }
}
