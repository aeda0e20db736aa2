//! The health page and the user tasks page.

use baton_core::limits::hold::{Hold, HoldReason};

use super::{Scene, part, reads};

async fn held(scene: &Scene, ms: Option<i64>) {
    let now = scene.stage.tasks.store.now().await.unwrap();
    let until = ms.map(|ms| now.plus_ms(ms));
    let agent = "claude".parse().unwrap();
    let hold = Hold::new(agent, HoldReason::Quota, "You have hit your limit", now, until);
    let known = scene.stage.tasks.store.holds().await.unwrap().into_iter().next();
    scene.stage.tasks.write(hold.place(known.as_ref()).unwrap()).await.unwrap();
}

#[tokio::test]
async fn the_health_page_shows_agents_capacity_and_store() {
    let scene = Scene::set().await;
    scene.add("Greet by name").await;
    let page = scene.page("/health").await;
    reads(
        &page,
        &[
            "✓ Healthy",
            "Agents",
            "claude default",
            "✓ yes",
            "at once",
            "Running 0 of",
            "Ready 1",
            "Questions 0",
            "Ready for review 0 of",
        ],
    );
    reads(&page, &["No agent is on hold.", "Store", "Writable ✓ yes", "Size", "KiB", "Free disk space"]);
}

#[tokio::test]
async fn a_hold_is_shown_and_released() {
    let scene = Scene::set().await;
    held(&scene, Some(150_000)).await;
    scene.pass(30_000);
    let page = scene.page("/health").await;
    reads(part(&page, "aria-label=\"Agents\"", "</table>"), &["claude", "▲ on hold for 2 min"]);
    assert!(page.contains("data-age=\"left\""), "it counts down: {page}");
    // A hold without an end blocks the agent, too.
    held(&scene, None).await;
    let page = scene.page("/health").await;
    reads(part(&page, "aria-label=\"Agents\"", "</table>"), &["▲ on hold until released"]);
    reads(
        part(&page, "id=\"holds\"", "</section>"),
        &[
            "claude ▲ on hold until released",
            "You have hit your limit",
            "Release claude",
            "baton hold release claude",
        ],
    );
    let (status, _) = scene.stage.submit("/health/holds/claude/release", "").await;
    assert_eq!((status, scene.stage.last_header("location").as_deref()), (303, Some("/health")));
    reads(&scene.page("/health").await, &["✓ Healthy", "No agent is on hold."]);
    assert_eq!(scene.stage.submit("/health/holds/claude/release", "").await.0, 404);
}

#[tokio::test]
async fn user_tasks_are_listed_if_there_are_any() {
    let scene = Scene::set().await;
    let page = scene.page("/user-tasks").await;
    reads(&page, &["No user tasks", "baton tasks", "baton do NAME -- ARGS"]);
    assert!(!page.contains("/user-tasks/trust"), "there is no file one could trust: {page}");
    let text = "version: '3'\ntasks:\n  greet: {desc: Greets., cmds: ['echo Hello']}\n";
    std::fs::write(std::path::Path::new(&scene.stage.root()).join(".agent/Taskfile.yml"), text).unwrap();
    reads(&scene.page("/user-tasks").await, &["greet", "Greets.", "Arguments of greet", "Run"]);
}
