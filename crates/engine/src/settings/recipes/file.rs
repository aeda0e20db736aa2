//! One recipe file: read, checked, and every fault of it with its place in the file.

use std::fmt;
use std::path::{Path, PathBuf};

use baton_core::recipe::{Recipe, RecipeDraft, RecipeError, RecipeErrorKind};
use baton_taskfile::yaml::{self, Position, YamlNode};
use serde::{Deserialize, Serialize};

use super::decode::Decoded;

/// A recipe is read by people. Its prompts may be long, but not this long.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

const START: Position = Position { line: 1, column: 1 };

/// One fault, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileFault {
    pub file: PathBuf,
    pub line: usize,
    pub column: usize,
    /// The step and the field included, as a person reads it.
    pub message: String,
    /// None when the file could not be read as YAML at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<RecipeErrorKind>,
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file.display(), self.line, self.column, self.message)
    }
}

/// The recipe in `text`, or everything that is wrong with it, in the file's order.
pub fn read(text: &str, file: &Path) -> Result<Recipe, Vec<FileFault>> {
    let fault = |at: Position, message: String, kind| FileFault {
        file: file.to_owned(),
        line: at.line,
        column: at.column,
        message,
        kind,
    };
    if text.len() > FILE_BYTES_MAX {
        let message = format!("the file has {} bytes; at most {FILE_BYTES_MAX} are read", text.len());
        return Err(vec![fault(START, message, None)]);
    }
    let tree = yaml::parse_strict(text).map_err(|wrong| vec![fault(wrong.position, wrong.message, None)])?;
    let Some(tree) = tree.filter(|tree| tree.entries().is_some()) else {
        let message = "a recipe is a mapping with id, label, description, initial_step and steps".to_owned();
        return Err(vec![fault(START, message, Some(RecipeErrorKind::WrongShape))]);
    };
    let draft = RecipeDraft::deserialize(Decoded(&tree))
        .map_err(|error| vec![fault(START, error.to_string(), None)])?;
    Recipe::check(draft).map_err(|faults| {
        let mut placed: Vec<FileFault> = faults
            .iter()
            .map(|wrong| fault(place_of(&tree, wrong), wrong.to_string(), Some(wrong.kind)))
            .collect();
        placed.sort_by_key(|fault| (fault.line, fault.column));
        placed
    })
}

/// Where a fault's path leads, as far as it can be followed.
fn place_of(tree: &YamlNode, fault: &RecipeError) -> Position {
    let step = fault.step.iter().flat_map(|step| ["steps", step.as_str()]);
    let mut path = step.chain(fault.field.iter().map(String::as_str)).peekable();
    let (mut at, mut node) = (START, tree);
    while let Some(key) = path.next() {
        // What is written twice is wrong the second time.
        let is_second = fault.kind == RecipeErrorKind::Duplicate && path.peek().is_none();
        let found = match (node.entries(), node.items()) {
            (Some(entries), _) => {
                let mut same = entries.iter().filter(|(name, _)| name.key() == key);
                let entry = if is_second { same.next_back() } else { same.next() };
                entry.map(|(name, value)| (name.position, value))
            }
            (None, Some(items)) => {
                key.parse::<usize>().ok().and_then(|index| items.get(index)).map(|item| (item.position, item))
            }
            (None, None) => None,
        };
        let Some(found) = found else { break };
        (at, node) = found;
    }
    at
}
