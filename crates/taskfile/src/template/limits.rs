//! How far a template may go. Reaching a limit is an error that names it, never a crash.

/// Actions and parentheses inside one another while a template is parsed.
pub(crate) const NESTING_MAX: usize = 200;

/// Actions, parentheses and `{{template}}` calls inside one another while a template is rendered. More than may be
/// written inside one another, and few enough for the stack of a thread in an unoptimised build.
pub(crate) const DEPTH_MAX: usize = 250;

/// Nodes and function calls in one rendering; a loop over everything a list may hold stays below it.
pub(crate) const STEPS_MAX: u64 = 20_000_000;

/// Bytes of one text a template makes: its output, or what a function returns.
pub(crate) const TEXT_MAX: usize = 64 << 20;

/// Bytes all functions of one rendering return together.
pub(crate) const WORK_MAX: u64 = 512 << 20;

/// Values in one list or map, with everything inside it.
pub(crate) const ITEMS_MAX: usize = 1_000_000;

/// Lists and maps inside one another.
pub(crate) const VALUE_DEPTH_MAX: usize = 200;

/// Times one rendering may `set` a list or map into a map; each could make a value one level deeper.
pub(crate) const NESTED_SETS_MAX: usize = 200;

/// Width and precision of a printed value, as Go has it.
pub(crate) const WIDTH_MAX: usize = 1_000_000;
