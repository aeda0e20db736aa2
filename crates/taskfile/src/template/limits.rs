//! Limits on templates. Exceeding one is an error that names it.

/// Nesting of actions and parentheses while parsing.
pub(crate) const NESTING_MAX: usize = 200;

/// Nesting of actions, parentheses and `{{template}}` calls while rendering: more than parsing allows, and few enough
/// for a thread's stack in an unoptimised build.
pub(crate) const DEPTH_MAX: usize = 250;

/// Nodes and function calls in one rendering; a loop over a list of maximal size stays below it.
pub(crate) const STEPS_MAX: u64 = 20_000_000;

/// Bytes of one string: the output, or what a function returns.
pub(crate) const TEXT_MAX: usize = 64 << 20;

/// Total bytes returned by all function calls of one rendering.
pub(crate) const WORK_MAX: u64 = 512 << 20;

/// Values in one list or map, including nested ones.
pub(crate) const ITEMS_MAX: usize = 1_000_000;

/// Nesting of lists and maps.
pub(crate) const VALUE_DEPTH_MAX: usize = 200;

/// How often one rendering may store a list or map in a map with `set`; each could add a level.
pub(crate) const NESTED_SETS_MAX: usize = 200;

/// Go's limit on the width and precision of a printed value.
pub(crate) const WIDTH_MAX: usize = 1_000_000;
