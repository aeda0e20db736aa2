//! Validates a draft. It continues after an error, so that the agent learns of all of them at once.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::id::TaskId;
use crate::base::priority::Priority;
use crate::base::text::NonBlank;
use crate::base::title::normalize_title;
use crate::graph::{GraphError, TaskGraph};
use crate::recycle::plan::{
    DESCRIPTION_CHARS_MAX, ITEMS_MAX, ItemDraft, LIST_ITEM_CHARS_MAX, LIST_ITEMS_MAX, PlanDraft, PlanError,
    PlanErrorCode, PlanField, PlanItem, TITLE_CHARS_MAX,
};

/// Longest part of the input that is quoted back.
const QUOTED_CHARS_MAX: usize = 60;

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct PlanErrorList(Vec<PlanError>);

impl PlanErrorList {
    fn add(&mut self, item: Option<usize>, field: PlanField, code: PlanErrorCode, message: String) {
        self.0.push(PlanError { code, item, field, message });
    }

    fn refuse_long(&mut self, item: usize, field: PlanField, text: &str, chars_max: usize) {
        let chars = text.chars().count();
        if chars > chars_max {
            let message = format!("{chars} characters; write at most {chars_max}");
            self.add(Some(item), field, PlanErrorCode::TooLong, message);
        }
    }
}

pub(crate) fn check(draft: PlanDraft) -> Result<Vec<PlanItem>, Vec<PlanError>> {
    let mut faults = PlanErrorList(Vec::new());
    let count = draft.items.len();
    if count == 0 {
        let message = "the plan is empty; propose at least one task".to_owned();
        faults.add(None, PlanField::Items, PlanErrorCode::EmptyPlan, message);
    }
    if count > ITEMS_MAX {
        let message = format!("{count} items; propose at most {ITEMS_MAX}, each a task of its own");
        faults.add(None, PlanField::Items, PlanErrorCode::TooMany, message);
    }
    // Items beyond the limit have to go anyway; their errors would only bury the others.
    let drafts: Vec<(usize, ItemDraft)> = (1..).zip(draft.items.into_iter().take(ITEMS_MAX)).collect();
    check_titles(&drafts, &mut faults);
    let edges: Vec<Vec<usize>> = drafts
        .iter()
        .map(|(number, item)| check_numbers(*number, count, &item.depends_on, &mut faults))
        .collect();
    check_circles(&edges, &mut faults);
    let items: Vec<PlanItem> = drafts
        .into_iter()
        .zip(edges)
        .filter_map(|((number, item), depends_on)| check_item(number, item, depends_on, &mut faults))
        .collect();
    if faults.0.is_empty() {
        return Ok(items);
    }
    faults.0.sort_by_key(|fault| (fault.item, fault.field));
    Err(faults.0)
}

/// The item, or `None` if it is invalid; the errors then say why.
fn check_item(
    number: usize,
    draft: ItemDraft,
    depends_on: Vec<usize>,
    faults: &mut PlanErrorList,
) -> Option<PlanItem> {
    let description = draft.description.trim().to_owned();
    faults.refuse_long(number, PlanField::Description, &description, DESCRIPTION_CHARS_MAX);
    let priority = check_priority(number, &draft.priority, faults);
    let acceptance_criteria =
        check_list(number, PlanField::AcceptanceCriteria, draft.acceptance_criteria, faults);
    let verification = check_list(number, PlanField::Verification, draft.verification, faults);

    // One line, because titles appear in lists and headings.
    let title = one_line(&draft.title);
    faults.refuse_long(number, PlanField::Title, &title, TITLE_CHARS_MAX);
    let Ok(title) = NonBlank::new(title) else {
        let message = "the title is blank; say in a few words what is to be done".to_owned();
        faults.add(Some(number), PlanField::Title, PlanErrorCode::Blank, message);
        return None;
    };
    Some(PlanItem { title, description, priority, acceptance_criteria, verification, depends_on })
}

fn check_priority(number: usize, sent: &Value, faults: &mut PlanErrorList) -> Option<Priority> {
    let text = match sent {
        Value::Null => return None,
        Value::String(text) if text.trim().is_empty() => return None,
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => sent.to_string(),
    };
    match text.parse() {
        Ok(priority) => Some(priority),
        Err(bad) => {
            faults.add(Some(number), PlanField::Priority, PlanErrorCode::InvalidPriority, bad.to_string());
            None
        }
    }
}

/// Blank entries carry no information and are dropped.
fn check_list(
    number: usize,
    field: PlanField,
    sent: Vec<String>,
    faults: &mut PlanErrorList,
) -> Vec<NonBlank> {
    let entries: Vec<NonBlank> =
        sent.into_iter().filter_map(|entry| NonBlank::new(entry.trim()).ok()).collect();
    if entries.len() > LIST_ITEMS_MAX {
        let message = format!("{} entries; write at most {LIST_ITEMS_MAX}", entries.len());
        faults.add(Some(number), field, PlanErrorCode::TooMany, message);
    }
    for entry in entries.iter().take(LIST_ITEMS_MAX) {
        faults.refuse_long(number, field, entry.as_str(), LIST_ITEM_CHARS_MAX);
    }
    entries
}

fn check_titles(drafts: &[(usize, ItemDraft)], faults: &mut PlanErrorList) {
    let mut first_with: BTreeMap<String, usize> = BTreeMap::new();
    for (number, item) in drafts {
        let key = normalize_title(&item.title);
        if key.is_empty() {
            continue;
        }
        let first = *first_with.entry(key).or_insert(*number);
        if first != *number {
            let message = format!("the same title as item {first}; merge the two, or say how they differ");
            faults.add(Some(*number), PlanField::Title, PlanErrorCode::DuplicateTitle, message);
        }
    }
}

/// The numbers of other items, ascending, without repetition.
fn check_numbers(number: usize, count: usize, sent: &[Value], faults: &mut PlanErrorList) -> Vec<usize> {
    let mut numbers = Vec::new();
    for value in sent.iter().filter(|value| !value.is_null()) {
        match item_number(value) {
            None => {
                let shown: String = value.to_string().chars().take(QUOTED_CHARS_MAX).collect();
                let message = format!("{shown} is not an item's number; write numbers, the first item is 1");
                faults.add(Some(number), PlanField::DependsOn, PlanErrorCode::NotANumber, message);
            }
            Some(on) if on == 0 || on > count => {
                let message = format!("there is no item {on}; the items are 1 to {count}");
                faults.add(Some(number), PlanField::DependsOn, PlanErrorCode::UnknownItem, message);
            }
            Some(on) if on == number => {
                let message = format!("item {number} cannot wait on itself; leave {number} out");
                faults.add(Some(number), PlanField::DependsOn, PlanErrorCode::DependsOnItself, message);
            }
            Some(on) => numbers.push(on),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn item_number(sent: &Value) -> Option<usize> {
    match sent {
        Value::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
        Value::String(text) => {
            let text = text.trim();
            text.strip_prefix('#').unwrap_or(text).parse().ok()
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The task graph finds the cycles: item 3 becomes the task with number 3.
fn check_circles(edges: &[Vec<usize>], faults: &mut PlanErrorList) {
    let as_task = |number: usize| u32::try_from(number).ok().map(TaskId::from_bits);
    let mut graph = TaskGraph::new();
    for task in (1..=edges.len()).filter_map(as_task) {
        // Each number occurs once, so it cannot exist already.
        let _ = graph.add(task);
    }
    for (number, on) in (1..).zip(edges).flat_map(|(number, on)| on.iter().map(move |on| (number, *on))) {
        let (Some(dependent), Some(blocker)) = (as_task(number), as_task(on)) else { continue };
        // No other error can occur: self-references are dropped already, and numbers out of range have an error.
        if let Err(GraphError::Circle { path }) = graph.add_edge(dependent, blocker) {
            let shown: Vec<String> = path.iter().map(|task| task.bits().to_string()).collect();
            let message =
                format!("the items wait on each other in a circle: {}; drop one", shown.join(" → "));
            faults.add(Some(number), PlanField::DependsOn, PlanErrorCode::Circle, message);
        }
    }
}
