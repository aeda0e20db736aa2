//! Parses one recipe file and reports every error with its position.

use std::fmt;
use std::path::{Path, PathBuf};

use baton_core::recipe::{Recipe, RecipeDraft, RecipeError, RecipeErrorKind};
use baton_taskfile::yaml::{self, Position, YamlNode};
use serde::{Deserialize, Serialize};

use super::decode::YamlDeserializer;

/// Larger than any recipe a person would write.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;

const START: Position = Position { line: 1, column: 1 };

/// An error in a recipe file and its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecipeFileError {
    pub file: PathBuf,
    pub line: usize,
    pub column: usize,
    /// Names the step and the field.
    pub message: String,
    /// None if the file is not valid YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<RecipeErrorKind>,
}

impl fmt::Display for RecipeFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file.display(), self.line, self.column, self.message)
    }
}

/// The recipe in `text`, or all its errors in file order.
pub fn parse(text: &str, file: &Path) -> Result<Recipe, Vec<RecipeFileError>> {
    let file_error = |at: Position, message: String, kind| RecipeFileError {
        file: file.to_owned(),
        line: at.line,
        column: at.column,
        message,
        kind,
    };
    if text.len() > FILE_BYTES_MAX {
        let message = format!("the file has {} bytes; the limit is {FILE_BYTES_MAX}", text.len());
        return Err(vec![file_error(START, message, None)]);
    }
    let tree =
        yaml::parse_strict(text).map_err(|error| vec![file_error(error.position, error.message, None)])?;
    let Some(tree) = tree.filter(|tree| tree.entries().is_some()) else {
        let message =
            "a recipe must be a mapping with id, label, description, initial_step and steps".to_owned();
        return Err(vec![file_error(START, message, Some(RecipeErrorKind::WrongShape))]);
    };
    let draft = RecipeDraft::deserialize(YamlDeserializer(&tree))
        .map_err(|error| vec![file_error(START, error.to_string(), None)])?;
    Recipe::check(draft).map_err(|errors| {
        let mut located: Vec<RecipeFileError> = errors
            .iter()
            .map(|error| file_error(locate(&tree, error), error.to_string(), Some(error.kind)))
            .collect();
        located.sort_by_key(|error| (error.line, error.column));
        located
    })
}

/// The position of the innermost node on the error's path that exists.
fn locate(tree: &YamlNode, error: &RecipeError) -> Position {
    let step = error.step.iter().flat_map(|step| ["steps", step.as_str()]);
    let mut path = step.chain(error.field.iter().map(String::as_str)).peekable();
    let (mut at, mut node) = (START, tree);
    while let Some(key) = path.next() {
        // Of a duplicate key, the second one is the error.
        let is_second = error.kind == RecipeErrorKind::Duplicate && path.peek().is_none();
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
