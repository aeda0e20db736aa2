//! The recipes that ship in the binary, in the same form as everybody's own.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use baton_core::recipe::Recipe;

use crate::settings::recipes::file::read;

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        /// Id and file of each.
        pub const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!($name, ".yml")))),+];
    };
}

built_in!(
    "work",
    "implement-and-review",
    "implement-and-review-all",
    "document-design",
    "break-down-tasks",
    "review-and-commit",
    "refine-design",
    "rebase",
    "retrospective",
    "plan-execute-review",
);

/// A test reads them all; one that could not be read would be missing from the list, not end the program.
static RECIPES: LazyLock<Vec<Arc<Recipe>>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| read(text, Path::new(name)).ok().map(Arc::new);
    BUILT_IN.iter().filter_map(read).collect()
});

pub fn all() -> &'static [Arc<Recipe>] {
    &RECIPES
}
