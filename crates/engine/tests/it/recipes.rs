//! The library of recipes: what ships, what a repository adds, and what is wrong with it.

use std::fs;
use std::path::Path;

use baton_core::base::id::RunId;
use baton_core::base::text::RecipeId;
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::recipe::outcome::Outcome;
use baton_core::recipe::run::{Advance, Run, RunObservation, StepReport};
use baton_core::recipe::{Recipe, RecipeDraft, StepDraft, StepTransition};
use baton_engine::settings::recipes::{BUILT_IN, RecipeLibrary, RecipeSource, parse, schema};
use tempfile::TempDir;

fn built_in(id: &str) -> Recipe {
    let (_, text) = BUILT_IN.iter().find(|(name, _)| *name == id).unwrap();
    parse(text, Path::new(id)).unwrap()
}

fn id(text: &str) -> RecipeId {
    text.parse().unwrap()
}

const SMALL: &str = "id: small\nlabel: Small\ndescription: One step\ninitial_step: one\nsteps:\n  one:\n    prompt: Go.\n    \
                     outcomes: [done]\n    on_outcome: { done: { exit: stopped } }\n";

/// A repository with one recipe of its own.
fn repository(text: &str) -> (TempDir, RecipeLibrary) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".agent/recipes")).unwrap();
    fs::write(folder.path().join(".agent/recipes/small.yml"), text).unwrap();
    let library = RecipeLibrary::for_repository(folder.path());
    (folder, library)
}

#[test]
fn every_built_in_recipe_reads_and_has_its_own_name() {
    for (name, text) in BUILT_IN {
        let recipe = parse(text, Path::new(name)).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
        assert_eq!(recipe.id().as_str(), *name);
        for step in recipe.steps() {
            // The outcomes of the loop's phases are the human's, at the gates; its agents end as every task's do.
            let reported = if recipe.is_loop() { Vec::new() } else { step.outcomes() };
            for outcome in reported {
                let quoted = format!("`{outcome}`");
                assert!(
                    step.prompt().as_str().contains(&quoted),
                    "{name}, {}: {quoted} is not explained",
                    step.name()
                );
            }
            for (_, transition) in step.transitions() {
                if let StepTransition::Exit { reason } = transition {
                    let message = reason.message();
                    assert!(
                        !message.starts_with("Completed: "),
                        "{name}: {reason} has no sentence of its own"
                    );
                }
            }
        }
    }
    assert_eq!(RecipeLibrary::built_in().list().len(), BUILT_IN.len());
}

#[test]
fn the_guardrails_are_the_documented_ones() {
    let refine = built_in("refine-design").guardrails();
    assert_eq!((refine.max_step_visits(), refine.max_total_steps()), (5, 150));
    let usual = built_in("implement-and-review").guardrails();
    assert_eq!((usual.max_step_visits(), usual.max_total_steps()), (3, 100));
    assert!(
        built_in("implement-and-review").takes_task() && built_in("implement-and-review-all").takes_task()
    );
}

#[test]
fn implement_step_no_tasks_outcome() {
    let recipe = built_in("implement-and-review");
    let implement = recipe.step(&"implement".parse().unwrap()).unwrap();
    let no_tasks = "no-tasks".parse().unwrap();
    assert!(implement.outcomes().contains(&no_tasks));
    let reason = ExitReason::new("no-tasks-available").unwrap();
    assert_eq!(implement.transition(&no_tasks), Some(&StepTransition::Exit { reason }));
    assert!(implement.prompt().as_str().contains("## No tasks available"));
}

#[test]
fn implement_step_no_tasks_transition() {
    let recipe = built_in("implement-and-review");
    let run = Run::start(RunId::from_bits(1), &recipe, "abc123".parse().unwrap(), None);
    let report = StepReport::Outcome(Outcome { name: "no-tasks".parse().unwrap(), description: None });
    let (run, advance) = run.advance(&recipe, &report, &RunObservation::default()).unwrap();
    let reason = ExitReason::new("no-tasks-available").unwrap();
    assert_eq!(advance, Advance::Exit { reason });
    assert!(run.has_exited());
}

#[test]
fn recipe_validates_with_no_tasks_outcome() {
    let (_, text) = BUILT_IN.iter().find(|(name, _)| *name == "implement-and-review").unwrap();
    assert!(parse(text, Path::new("implement-and-review.yml")).is_ok());
}

#[test]
fn no_tasks_available_is_a_completion_with_a_sentence() {
    let reason = ExitReason::new("no-tasks-available").unwrap();
    assert_eq!(reason.category(), ExitCategory::Completed);
    assert_eq!(reason.message(), "No tasks available to implement");
}

#[test]
fn the_loop_has_the_documented_gates() {
    let recipe = built_in("plan-execute-review");
    let gates: Vec<(String, Option<String>)> = recipe
        .steps()
        .iter()
        .filter_map(|step| step.gate())
        .map(|gate| (gate.question().to_string(), gate.no().map(ToString::to_string)))
        .collect();
    let gate = |question: &str, no: Option<&str>| (question.to_owned(), no.map(str::to_owned));
    assert_eq!(
        gates,
        [
            gate("Ready to execute? [YES/NO]", None),
            gate("Ready for review? [YES/NO]", None),
            gate("Continue loop? [YES/NO]", Some("stop")),
        ]
    );
}

#[test]
fn a_repository_overrides_a_built_in_recipe_and_adds_its_own() {
    let (folder, library) = repository(SMALL);
    let own = SMALL.replace("id: small", "id: rebase").replace("label: Small", "label: Our rebase");
    fs::write(folder.path().join(".agent/recipes/rebase.yaml"), own).unwrap();
    assert_eq!(library.get(&id("rebase")).unwrap().label().as_str(), "Our rebase");
    assert!(library.get(&id("small")).is_some() && library.get(&id("work")).is_some());
    let from_files =
        library.list().into_iter().filter(|listed| listed.source != RecipeSource::BuiltIn).count();
    assert_eq!(from_files, 2);
}

#[test]
fn a_faulty_change_keeps_the_last_good_version_and_says_so_once() {
    let (folder, library) = repository(SMALL);
    let file = folder.path().join(".agent/recipes/small.yml");
    assert_eq!(library.get(&id("small")).unwrap().label().as_str(), "Small");
    assert!(library.take_warnings().is_empty());

    fs::write(&file, SMALL.replace("outcomes: [done]", "outcomes: [done, extra]")).unwrap();
    assert_eq!(library.get(&id("small")).unwrap().label().as_str(), "Small", "the last good one");
    let news = library.take_warnings();
    assert_eq!(news.len(), 1);
    assert!(news[0].contains("the previous version stays in use"), "{news:?}");
    assert!(news[0].contains("small.yml:9:5: step one, on_outcome"), "{news:?}");
    library.get(&id("small"));
    assert!(library.take_warnings().is_empty(), "it is reported once");
    let listed = library.list().into_iter().find(|listed| listed.recipe.id() == &id("small")).unwrap();
    assert_eq!(listed.errors.len(), 1);

    fs::write(&file, SMALL.replace("label: Small", "label: Mended and good")).unwrap();
    assert_eq!(library.get(&id("small")).unwrap().label().as_str(), "Mended and good");
    fs::remove_file(&file).unwrap();
    assert!(library.get(&id("small")).is_none());
}

#[test]
fn a_file_that_was_never_valid_leaves_the_built_in_one() {
    let (_folder, library) = repository(&SMALL.replace("id: small", "id: rebase").replace("[done]", "[]"));
    assert_eq!(library.get(&id("rebase")).unwrap().label().as_str(), "Rebase");
    assert!(library.take_warnings()[0].contains("it is not used"));
}

#[test]
fn two_files_of_one_id_are_a_fault_of_the_second() {
    let (folder, library) = repository(SMALL);
    fs::write(folder.path().join(".agent/recipes/again.yml"), SMALL).unwrap();
    let checked = library.check();
    let faulty: Vec<_> = checked.iter().filter(|one| !one.errors.is_empty()).collect();
    assert_eq!(faulty.len(), 1);
    assert!(faulty[0].errors[0].message.contains("already has the id \"small\""), "{faulty:?}");
}

#[test]
fn a_recipe_survives_the_trip_through_its_file() {
    for (name, _) in BUILT_IN {
        let recipe = built_in(name);
        let draft: RecipeDraft = serde_json::from_value(serde_json::to_value(&recipe).unwrap()).unwrap();
        assert_eq!(Recipe::check(draft).unwrap().steps().len(), recipe.steps().len());
    }
}

#[test]
fn the_schema_names_the_keys_the_check_knows() {
    let schema = schema();
    let keys = |value: &serde_json::Value| {
        let mut keys: Vec<String> = value["properties"].as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    let sorted = |known: &[&str]| {
        let mut known: Vec<String> = known.iter().map(|key| (*key).to_owned()).collect();
        known.sort();
        known
    };
    assert_eq!(keys(&schema), sorted(RecipeDraft::KEYS));
    assert_eq!(keys(&schema["$defs"]["step"]), sorted(StepDraft::KEYS));
}

#[test]
fn the_example_in_the_documentation_is_a_valid_recipe() {
    let page = include_str!("../../../../docs/recipes.md");
    let example = page.split("```yaml").nth(1).unwrap().split("```").next().unwrap();
    let recipe = parse(example, Path::new("docs/recipes.md")).unwrap();
    assert_eq!(recipe.id().as_str(), "tidy");
}
