//! The check of a draft. It goes on after a fault, so that the agent hears of all of them at once.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::id::TaskId;
use crate::base::priority::Priority;
use crate::base::text::NonBlank;
use crate::base::title::normalised_title;
use crate::graph::{Graph, GraphError};
use crate::recycle::plan::{
    DESCRIPTION_CHARS_MAX, ITEMS_MAX, ItemDraft, LIST_ITEM_CHARS_MAX, LIST_ITEMS_MAX, PlanDraft, PlanFault,
    PlanFaultCode, PlanField, PlanItem, TITLE_CHARS_MAX,
};

/// Longest piece of what was sent that is quoted back.
const QUOTED_CHARS_MAX: usize = 60;

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Faults(Vec<PlanFault>);

impl Faults {
    fn add(&mut self, item: Option<usize>, field: PlanField, code: PlanFaultCode, message: String) {
        self.0.push(PlanFault { code, item, field, message });
    }

    fn refuse_long(&mut self, item: usize, field: PlanField, text: &str, chars_max: usize) {
        let chars = text.chars().count();
        if chars > chars_max {
            let message = format!("{chars} characters; write at most {chars_max}");
            self.add(Some(item), field, PlanFaultCode::TooLong, message);
        }
    }
}

pub(crate) fn check(draft: PlanDraft) -> Result<Vec<PlanItem>, Vec<PlanFault>> {
    let mut faults = Faults(Vec::new());
    let count = draft.items.len();
    if count == 0 {
        let message = "the plan is empty; propose at least one task".to_owned();
        faults.add(None, PlanField::Items, PlanFaultCode::EmptyPlan, message);
    }
    if count > ITEMS_MAX {
        let message = format!("{count} items; propose at most {ITEMS_MAX}, each a task of its own");
        faults.add(None, PlanField::Items, PlanFaultCode::TooMany, message);
    }
    // What lies beyond the limit has to go anyway; its faults would only bury the others.
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

/// The item, or `None` when it cannot be one; the reason is then among the faults.
fn check_item(
    number: usize,
    draft: ItemDraft,
    depends_on: Vec<usize>,
    faults: &mut Faults,
) -> Option<PlanItem> {
    let description = draft.description.trim().to_owned();
    faults.refuse_long(number, PlanField::Description, &description, DESCRIPTION_CHARS_MAX);
    let priority = check_priority(number, &draft.priority, faults);
    let acceptance_criteria =
        check_list(number, PlanField::AcceptanceCriteria, draft.acceptance_criteria, faults);
    let verification = check_list(number, PlanField::Verification, draft.verification, faults);

    // One line, because a title stands in lists and headings.
    let title = one_line(&draft.title);
    faults.refuse_long(number, PlanField::Title, &title, TITLE_CHARS_MAX);
    let Ok(title) = NonBlank::new(title) else {
        let message = "the title is blank; say in a few words what is to be done".to_owned();
        faults.add(Some(number), PlanField::Title, PlanFaultCode::Blank, message);
        return None;
    };
    Some(PlanItem { title, description, priority, acceptance_criteria, verification, depends_on })
}

fn check_priority(number: usize, sent: &Value, faults: &mut Faults) -> Option<Priority> {
    let text = match sent {
        Value::Null => return None,
        Value::String(text) if text.trim().is_empty() => return None,
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => sent.to_string(),
    };
    match text.parse() {
        Ok(priority) => Some(priority),
        Err(bad) => {
            faults.add(Some(number), PlanField::Priority, PlanFaultCode::BadPriority, bad.to_string());
            None
        }
    }
}

/// Blank entries are left out: they say nothing, so nothing is lost with them.
fn check_list(number: usize, field: PlanField, sent: Vec<String>, faults: &mut Faults) -> Vec<NonBlank> {
    let entries: Vec<NonBlank> =
        sent.into_iter().filter_map(|entry| NonBlank::new(entry.trim()).ok()).collect();
    if entries.len() > LIST_ITEMS_MAX {
        let message = format!("{} entries; write at most {LIST_ITEMS_MAX}", entries.len());
        faults.add(Some(number), field, PlanFaultCode::TooMany, message);
    }
    for entry in entries.iter().take(LIST_ITEMS_MAX) {
        faults.refuse_long(number, field, entry.as_str(), LIST_ITEM_CHARS_MAX);
    }
    entries
}

fn check_titles(drafts: &[(usize, ItemDraft)], faults: &mut Faults) {
    let mut first_with: BTreeMap<String, usize> = BTreeMap::new();
    for (number, item) in drafts {
        let key = normalised_title(&item.title);
        if key.is_empty() {
            continue;
        }
        let first = *first_with.entry(key).or_insert(*number);
        if first != *number {
            let message = format!("the same title as item {first}; merge the two, or say how they differ");
            faults.add(Some(*number), PlanField::Title, PlanFaultCode::DuplicateTitle, message);
        }
    }
}

/// The numbers that name another item, ascending, each once.
fn check_numbers(number: usize, count: usize, sent: &[Value], faults: &mut Faults) -> Vec<usize> {
    let mut numbers = Vec::new();
    for value in sent.iter().filter(|value| !value.is_null()) {
        match item_number(value) {
            None => {
                let shown: String = value.to_string().chars().take(QUOTED_CHARS_MAX).collect();
                let message = format!("{shown} is not an item's number; write numbers, the first item is 1");
                faults.add(Some(number), PlanField::DependsOn, PlanFaultCode::NotANumber, message);
            }
            Some(on) if on == 0 || on > count => {
                let message = format!("there is no item {on}; the items are 1 to {count}");
                faults.add(Some(number), PlanField::DependsOn, PlanFaultCode::UnknownItem, message);
            }
            Some(on) if on == number => {
                let message = format!("item {number} cannot wait on itself; leave {number} out");
                faults.add(Some(number), PlanField::DependsOn, PlanFaultCode::DependsOnItself, message);
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

/// The task graph finds the circles: for it, item 3 is the task with the number 3.
fn check_circles(edges: &[Vec<usize>], faults: &mut Faults) {
    let as_task = |number: usize| u32::try_from(number).ok().map(TaskId::from_bits);
    let mut graph = Graph::new();
    for task in (1..=edges.len()).filter_map(as_task) {
        // Each number comes once, so it cannot be there already.
        let _ = graph.add(task);
    }
    for (number, on) in (1..).zip(edges).flat_map(|(number, on)| on.iter().map(move |on| (number, *on))) {
        let (Some(dependent), Some(blocker)) = (as_task(number), as_task(on)) else { continue };
        // Other refusals cannot come: numbers of itself are out already, those beyond the limit have a fault.
        if let Err(GraphError::Circle { path }) = graph.add_edge(dependent, blocker) {
            let shown: Vec<String> = path.iter().map(|task| task.bits().to_string()).collect();
            let message =
                format!("the items wait on each other in a circle: {}; drop one", shown.join(" → "));
            faults.add(Some(number), PlanField::DependsOn, PlanFaultCode::Circle, message);
        }
    }
}
