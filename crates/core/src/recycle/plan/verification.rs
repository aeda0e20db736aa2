//! How the parts of a plan are verified.

use crate::base::text::NonBlank;

/// The commands among the verification steps of a plan: what is written in backticks, or after `$ `. The others are for readers.
pub(crate) fn commands_in(steps: &[NonBlank]) -> Vec<NonBlank> {
    let command = |step: &NonBlank| {
        let text = step.as_str().trim();
        let quoted = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        let quoted = quoted.filter(|inner| !inner.contains('`'));
        NonBlank::new(quoted.or_else(|| text.strip_prefix("$ "))?).ok()
    };
    steps.iter().filter_map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_as_a_command_is_one() {
        let steps = ["`cargo test`", "$ make check", "Look at the page", "run `x` and `y`", "`` ` ``", "``"];
        let steps: Vec<NonBlank> = steps.iter().map(|step| NonBlank::new(*step).unwrap()).collect();
        let found = commands_in(&steps);
        assert_eq!(found.iter().map(NonBlank::as_str).collect::<Vec<_>>(), ["cargo test", "make check"]);
    }
}
