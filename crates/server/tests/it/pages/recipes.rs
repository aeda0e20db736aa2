//! The recipes page and the chat page.

use serde_json::json;

use super::{Scene, part, reads};

#[tokio::test]
async fn each_recipe_has_a_diagram_and_its_exits() {
    let scene = Scene::set().await;
    let page = scene.page("/recipes").await;
    assert!(!page.contains("<svg"), "only what was chosen or runs is drawn: {page}");
    reads(part(&page, "id=\"implement-and-review\"", "</section>"), &["Steps and exits", "Start"]);
    let page = scene.page("/recipes?show=implement-and-review").await;
    let own = part(&page, "id=\"implement-and-review\"", "</section>");
    let drawing = part(own, "<svg", "</svg>");
    reads(
        drawing,
        &["complete", "no-tasks", "● implement", "code-review", "fix", "commit", "✓ no-tasks-available"],
    );
    // Each step has its own exit nodes.
    assert_eq!(drawing.matches("◆ user-provided-other").count(), 4, "{drawing}");
    assert!(!drawing.contains(" H"), "a line runs past a step: {drawing}");
    reads(own, &["Exits", "◆ for you Implementation blocked - cannot proceed implementation-blocked"]);
    reads(own, &["✓ completed Task implementation committed successfully task-committed", "Start"]);
    let looped = scene.page("/recipes?show=plan-execute-review").await;
    reads(part(&looped, "id=\"plan-execute-review\"", "</section>"), &["● plan ⊟", "execute ⊟", "review ⊟"]);
    let all = part(&page, "id=\"every-recipe\"", "</section>");
    reads(
        all,
        &[
            "◆ for you Recipe stopped on request",
            "▲ guardrail Stopped: a step was entered too many times",
            "▲ guardrail Stopped: the run took too many steps",
            "✗ error The agent did not report a usable outcome",
        ],
    );
    for tone in ["tone-review", "tone-asking", "tone-failed"] {
        assert!(all.contains(tone), "{tone}: {all}");
    }
}

#[tokio::test]
async fn a_run_highlights_its_step_and_shows_its_exit() {
    let scene = Scene::set().await;
    let start = json!({ "recipe_id": "document-design", "message": "Links that expire" });
    scene.post("/api/sessions/design/recipe", &start).await;
    let page = scene.page("/recipes").await;
    let own = part(&page, "id=\"document-design\"", "</section>");
    reads(own, &["design running at write, step 1", "Stop"]);
    assert_eq!(own.matches(" lit\"").count(), 1, "{own}");
    reads(part(own, " lit\"", "</g>"), &["● write ◀"]);
    reads(&scene.page("/chat/design").await, &["Links that expire", "document-design at write, step 1"]);

    let (status, _) = scene.stage.submit("/chat/design/exit", "next=%2Frecipes").await;
    assert_eq!((status, scene.stage.last_header("location").as_deref()), (303, Some("/recipes")));
    assert!(!part(&scene.page("/recipes").await, "id=\"document-design\"", "</section>").contains(" lit\""));
    reads(
        &scene.page("/chat/design").await,
        &["document-design", "◆ for you Recipe stopped on request user-requested"],
    );
}

#[tokio::test]
async fn a_conversation_shows_entries_questions_and_progress() {
    let scene = Scene::set().await;
    let project = scene.post("/api/projects", &json!({ "path": scene.stage.root() })).await;
    let project = project["project_id"].as_str().unwrap().to_owned();
    let say = async |text: &str| {
        let sent = scene.post(&format!("/api/projects/{project}/chat"), &json!({ "content": text })).await;
        sent["task_id"].as_str().unwrap().parse().unwrap()
    };
    let first = say("Add a **French** greeting").await;
    scene.ask(first, "Formal or casual?", &["formal"]).await;
    scene.pass(60_000);
    say("And a German one").await;
    let page = scene.page(&format!("/chat/sess_{project}")).await;
    reads(
        part(&page, "aria-label=\"Conversations\"", "role=\"log\""),
        &["Add a French greeting", "? Waiting for you", "1 task"],
    );
    let thread = part(&page, "id=\"thread\"", "<form class=\"composer\"");
    reads(
        thread,
        &[
            "mia, 1 min ago",
            "Add a French greeting",
            "Formal or casual?",
            "1 formal",
            "mia, just now",
            "And a German one",
        ],
    );
    assert!(thread.contains("<textarea"), "the question is answered where it stands: {thread}");
    reads(&page, &["Your message", "Send", "Default recipe"]);
}
