//! The graph and the breakdown pages.

use serde_json::json;

use super::{Scene, part, reads};

#[tokio::test]
async fn edges_show_whether_they_are_met_pending_or_dead() {
    let scene = Scene::set().await;
    let done = scene.add("Set up").await;
    scene.finish(done).await;
    scene.accept(done).await;
    let open = scene.add_after("Greet by name", &[done]).await;
    let gone = scene.add("Ask the lawyers").await;
    let waits = scene.add_after("Write the tests", &[open]).await;
    scene.add_after("Write the guide", &[waits]).await;
    scene.add_after("Publish it", &[gone]).await;
    scene.add("Tidy up").await;
    scene.post(&format!("/api/tasks/{gone}/cancel"), &json!({})).await;
    let page = scene.page("/graph").await;
    let drawing = part(&page, "<div class=\"drawing\"", "</svg>");
    assert!(drawing.contains("✓ met<title>met: it is done</title>"), "{drawing}");
    assert!(drawing.contains("○ pending<title>pending: it is not done yet</title>"), "{drawing}");
    assert!(drawing.contains("✗ dead<title>dead: "), "{drawing}");
    // The two edges and three tasks of the critical path.
    assert_eq!(drawing.matches("class=\"edge pending critical\"").count(), 2, "{drawing}");
    assert_eq!(drawing.matches(" critical\"><title>").count(), 3, "{drawing}");
    reads(drawing, &["Greet by name ○ Queued · ready"]);
    reads(
        &page,
        &[
            "2 ready to start",
            "critical path: 3 tasks",
            "As text",
            "Greet by name waits on Set up — met: it is done",
            "Write the tests waits on Greet by name — pending: it is not done yet",
            "Without dependencies",
            "Tidy up",
            "ready",
        ],
    );
}

#[tokio::test]
async fn replacements_are_linked_to_the_recycled_task() {
    let scene = Scene::set().await;
    let large = scene.add("Translate everything").await;
    scene.add_after("Write the guide", &[large]).await;
    scene
        .stage
        .attempt(large, baton_core::task::attempt::AttemptResult::TurnLimit, "", super::burned_out())
        .await;
    scene.post(&format!("/api/tasks/{large}/recycle"), &json!({ "reason": "too_large" })).await;
    let page = scene.page("/graph").await;
    reads(
        &page,
        &[
            "♺ replaces a recycled task",
            "♺ stands in",
            "Write the guide waits on Translate everything — pending: it was recycled and",
            "replaces Translate everything, which was recycled",
        ],
    );
    assert!(!page.contains("Without dependencies"), "{page}");
}

#[tokio::test]
async fn a_plan_is_shown_completely() {
    let scene = Scene::set().await;
    let goal = json!({ "title": "Translate everything", "description": "All of `docs/`." });
    let made = scene.post("/api/breakdowns", &goal).await;
    let id = made["breakdown"]["task_id"].as_str().unwrap();
    reads(&scene.page("/breakdowns").await, &["Needs a plan", "Translate everything"]);
    let plan = json!({ "items": [
        { "title": "German", "description": "One **file**.", "acceptance_criteria": ["ends with `!`"] },
        { "title": "Spanish", "depends_on": [1], "verification": ["`scripts/check` passes"] },
    ]});
    let (status, text) = scene.stage.send("patch", &format!("/api/breakdowns/{id}"), Some(&plan)).await;
    assert_eq!(status, 200, "{text}");
    let page = scene.page(&format!("/breakdowns/{id}")).await;
    let plan = part(&page, "<ol class=\"plan\">", "</ol>");
    reads(
        plan,
        &[
            "German",
            "One file.",
            "Acceptance criteria",
            "ends with !",
            "Spanish",
            "after 1",
            "dependents wait for this",
            "Verification",
            "scripts/check passes",
        ],
    );
    assert!(!plan.contains('`') && plan.contains("<code>scripts/check</code>"), "{plan}");
    reads(&page, &["Approve plan", "Reject", "Edit plan", "Prompt for the planner"]);
    // Fields the editor does not show are kept.
    assert!(page.contains("name=\"verification-2\" value=\"`scripts/check` passes\""), "{page}");
}
