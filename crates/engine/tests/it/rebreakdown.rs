//! What the prompt of a breakdown says about its project.

use baton_core::people::actor::Actor;
use baton_core::task::state::{QueueName, ReplacedBy, TaskState};
use baton_core::transition::command::Command;

use crate::fixture::mia;
use crate::works::Works;

#[tokio::test]
async fn the_prompt_has_the_project_the_siblings_that_are_done_the_failed_task_and_the_branch_as_it_stands() {
    let works = Works::new(
        "case \"$prompt\" in
        *'# Re-Breakdown'*)
            printf %s \"$prompt\" > \"$home/prompt\"
            git log --format=%s > \"$home/log\"
            echo '{\"baton\":\"plan\",\"items\":[{\"title\":\"The rest\"}]}' ;;
        *'# Too large'*) for turn in $(seq 50); do echo '{\"baton\":\"turn\"}'; done ;;
        *) echo hello > greeting.txt; git add -A; git commit -q -m 'Greet the world' ;;
        esac",
        "",
    )
    .await;
    let project = works.project().await;
    let sibling = works.add("Add a greeting", |spec| spec.project_id = Some(project)).await;
    works.work_until(sibling, QueueName::Provisional).await;
    works.engine.workspace.acceptor().accept(sibling, false, mia()).await.unwrap();
    let failed = works
        .add("Too large", |spec| {
            spec.project_id = Some(project);
            spec.description = "Greet everyone else, in one go.".to_owned();
        })
        .await;
    works.work_until(failed, QueueName::Recycled).await;
    let state = works.tasks().task(failed).await.unwrap().value.state().clone();
    let TaskState::Recycled { replaced_by: ReplacedBy::Planning(breakdown) } = state else {
        panic!("{state:?}")
    };
    works.tasks().apply(breakdown, Command::Release, mia()).await.unwrap();
    works.work_until(breakdown, QueueName::Provisional).await;

    let prompt = std::fs::read_to_string(works.home.join("prompt")).unwrap();
    let (project, branch) = (project.to_string(), "feature/abcd0001");
    let parts = [
        &project,
        "A greeter for everyone",
        branch,
        "Add a greeting (1 commit)",
        &sibling.to_string(),
        &failed.to_string(),
        "Greet everyone else, in one go.",
        "Greet the world",
        "greeting.txt | 1 +",
    ];
    for part in parts {
        assert!(prompt.contains(part), "\"{part}\" is missing from:\n{prompt}");
    }
    // It stands on the branch that holds the truth, so that no turn is spent on finding it.
    assert!(std::fs::read_to_string(works.home.join("log")).unwrap().contains("Greet the world"));
    assert!(works.tasks().apply(failed, Command::Accept { force: true }, Actor::human("mia")).await.is_err());
}
