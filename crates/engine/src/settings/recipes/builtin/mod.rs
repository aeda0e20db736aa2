//! The built-in recipes, as files in the same format as users' own.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use baton_core::recipe::Recipe;

use crate::settings::recipes::file::parse;

macro_rules! built_in {
    ($($name:literal),+ $(,)?) => {
        /// The id and the file's text of each.
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

/// A test parses them all; at run time an invalid one would only be missing.
static RECIPES: LazyLock<Vec<Arc<Recipe>>> = LazyLock::new(|| {
    let parse = |(name, text): &(&str, &str)| parse(text, Path::new(name)).ok().map(Arc::new);
    BUILT_IN.iter().filter_map(parse).collect()
});

pub(super) fn all() -> &'static [Arc<Recipe>] {
    &RECIPES
}
