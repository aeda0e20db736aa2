//! The graph and the breakdown pages.

use serde_json::json;

use super::{Scene, part, reads};

#[tokio::test]
async fn edges_show_whether_they_are_done_waiting_or_cannot_be_met() {
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
    assert!(drawing.contains("✓ done<title>done</title>"), "{drawing}");
    assert!(drawing.contains("○ waiting<title>waiting: it is not done yet</title>"), "{drawing}");
    assert!(drawing.contains("✗ cannot be met<title>cannot be met: "), "{drawing}");
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
            "Greet by name waits on Set up — done",
            "Write the tests waits on Greet by name — waiting: it is not done yet",
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
            "♺ replaces a split task",
            "♺ replaces",
            "Write the guide waits on Translate everything — waiting: it is being split, planned in",
            "replaces Translate everything, which was split",
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
            "tasks that waited for the original wait for this one",
            "Verification",
            "scripts/check passes",
        ],
    );
    assert!(!plan.contains('`') && plan.contains("<code>scripts/check</code>"), "{plan}");
    reads(&page, &["Approve and create 2 tasks", "Reject", "Edit the plan", "Prompt for the planner"]);
    let verification = part(&page, "name=\"verification-2\"", "</textarea>");
    assert!(verification.ends_with("`scripts/check` passes"), "{verification}");
}

#[tokio::test]
async fn a_plan_is_rearranged_without_scripts_and_without_losing_what_was_typed() {
    let scene = Scene::set().await;
    let made = scene.post("/api/breakdowns", &json!({ "title": "Translate everything" })).await;
    let id = made["breakdown"]["task_id"].as_str().unwrap();
    let edit = format!("/breakdowns/{id}/edit");
    let typed = "title-1=German&title-2=Spanish&after-2=1&criteria-2=ends+with+!";
    let (status, page) = scene.stage.submit(&edit, &format!("{typed}&change=up-2")).await;
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("name=\"title-1\" value=\"Spanish\""), "{page}");
    assert!(page.contains("name=\"after-1\" value=\"2\""), "{page}");
    assert!(part(&page, "name=\"criteria-1\"", "</textarea>").ends_with("ends with !"), "{page}");
    let (_, page) = scene.stage.submit(&edit, &format!("{typed}&change=add")).await;
    assert!(page.contains("name=\"title-3\" value=\"\""), "{page}");
    // Nothing is stored until it is saved.
    reads(&scene.page(&format!("/breakdowns/{id}")).await, &["Write the plan"]);
    // An item without a title is told about, not dropped.
    let (status, page) =
        scene.stage.submit(&edit, &format!("{typed}&title-3=&description-3=All+the+rest")).await;
    assert_eq!(status, 400, "{page}");
    reads(&page, &["The plan cannot be used.", "All the rest"]);
    // A row that was left empty is, and the numbers follow.
    let (status, _) = scene.stage.submit(&edit, "title-1=&title-2=German&title-3=Spanish&after-3=2").await;
    assert_eq!(status, 303);
    reads(
        &scene.page(&format!("/breakdowns/{id}")).await,
        &["Plan: 2 tasks", "German", "Spanish", "after 1"],
    );
    assert_eq!(scene.stage.submit(&edit, "change=explode").await.0, 400);
}
