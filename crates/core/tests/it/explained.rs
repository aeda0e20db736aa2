//! Explained codes are the codes that programs see.

use baton_core::base::explanation::Explanation;
use baton_core::graph::GraphError;
use baton_core::recipe::RecipeErrorKind;
use baton_core::recipe::run::RunRefusal;
use baton_core::transition::refusal::CommandRefusal;

/// Serialised in `snake_case` by the name of the case, so that name has to be in the source.
fn is_a_case(explained: &[Explanation], source: &str) {
    for row in explained {
        let camel: String =
            row.code.split('_').flat_map(|word| [word[..1].to_uppercase(), word[1..].to_owned()]).collect();
        let is_there = [" {", ",", "("].iter().any(|after| source.contains(&format!("    {camel}{after}")));
        assert!(is_there, "{} is no case of the type that is explained", row.code);
    }
}

#[test]
fn codes_are_named_like_the_cases_they_explain() {
    is_a_case(CommandRefusal::EXPLAINED, include_str!("../../src/transition/refusal/mod.rs"));
    is_a_case(GraphError::EXPLAINED, include_str!("../../src/graph/error.rs"));
    is_a_case(RunRefusal::EXPLAINED, include_str!("../../src/recipe/run/advance.rs"));
    is_a_case(RecipeErrorKind::EXPLAINED, include_str!("../../src/recipe/fault.rs"));
}
