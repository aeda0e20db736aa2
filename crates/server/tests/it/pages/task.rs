//! One task: the way it went, what it was said to be and what it is, where it comes from.

use baton_core::task::attempt::{AttemptReport, AttemptResult, CheckResult, Evidence};
use serde_json::json;

use super::{Scene, burned_out, part, reads, said, worked};

#[tokio::test]
async fn the_way_so_far_is_lit_with_its_times_and_waiting_has_a_span_of_its_own() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    scene.pass(5_000);
    let attempt = scene.stage.claim(task).await;
    scene.pass(61_000);
    scene.stage.settle(task, attempt, AttemptReport::new(AttemptResult::Complete, "Done."), worked()).await;
    scene.pass(600_000);
    let page = scene.page(&format!("/tasks/{task}")).await;
    let drawing = part(&page, "<figure class=\"machine\"", "</figure>");
    let way = "The way of this task: Queued for 5 s, then Working for 1 min, then To accept for 10 min";
    assert!(drawing.contains(&format!("aria-label=\"{way}\"")), "{drawing}");
    assert_eq!(drawing.matches(" lit").count(), 2 + 3, "two lines and three states: {drawing}");
    assert_eq!(drawing.matches(" lit current").count(), 1, "{drawing}");
    reads(drawing, &["▶ Working", "1 min"]);

    let timeline = scene.page(&format!("/tasks/{task}/timeline")).await;
    reads(
        &timeline,
        &[
            "Agents worked 1 min",
            "Waited for you 10 min",
            "Waited in the queue 5 s",
            "○ Queued 5 s",
            "▶ Working 1 min",
            "◆ To accept 10 min",
            "1 claude 11 min ago 1 min complete 7/50 2 $0.34 log",
            "claimed by claude",
            "the attempt ended: 2 commits",
        ],
    );
    // Three spans on one scale, one after the other.
    let bars: Vec<&str> =
        timeline.split("class=\"bar\"").skip(1).map(|bar| part(bar, "x=\"", "\"")).collect();
    assert_eq!(bars, ["0", "7", "99"]);
}

#[tokio::test]
async fn what_was_reported_stands_beside_what_was_verified() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    let failed =
        CheckResult { name: said("lint"), exit_code: 3, output_tail: "one line too long".to_owned() };
    let evidence = Evidence { checks: vec![failed], ..worked() };
    let result = AttemptResult::NoChanges { reason: "`greet` was there".to_owned() };
    scene.stage.attempt(task, result, "Nothing to do.", evidence).await;
    let page = scene.page(&format!("/tasks/{task}")).await;
    let pair = part(&page, "<div class=\"pair\">", "</section>");
    reads(
        pair,
        &[
            "Reported by the agent",
            "nothing to change",
            "greet was there",
            "Verified by Baton",
            "Commits 2",
            "Changed 1 file +12 −3",
            "Turns 7 of 50",
            "Time 1 min",
            "Tokens 48,200 in, 3,100 out",
            "Cost $0.34",
            "Check lint ✗ exit code 3",
            "one line too long",
        ],
    );
    assert!(pair.contains("<code>greet</code>"), "{pair}");
}

#[tokio::test]
async fn a_recycled_task_names_what_stands_in_for_it_and_those_name_it() {
    let scene = Scene::set().await;
    let large = scene.add("Translate everything").await;
    scene.stage.attempt(large, AttemptResult::TurnLimit, "", burned_out()).await;
    scene.post(&format!("/api/tasks/{large}/recycle"), &json!({ "reason": "too_large" })).await;
    let page = scene.page(&format!("/tasks/{large}")).await;
    let breakdown = part(part(&page, "being broken down in ", "</li>"), "/breakdowns/", "\"").to_owned();
    let planner = scene.page(&format!("/tasks/{breakdown}")).await;
    reads(&planner, &["Lineage", &format!("recycled from {large}")]);
    let plan = json!({ "items": [{ "title": "German" }, { "title": "Spanish", "depends_on": [1] }] });
    let (status, text) =
        scene.stage.send("patch", &format!("/api/breakdowns/{breakdown}"), Some(&plan)).await;
    assert_eq!(status, 200, "{text}");
    scene.post(&format!("/api/breakdowns/{breakdown}/approve"), &json!({})).await;
    let page = scene.page(&format!("/tasks/{large}")).await;
    let lineage = part(&page, "<h2>Lineage</h2>", "</section>");
    assert_eq!(lineage.matches("replaced by ").count(), 2, "{lineage}");
    let parts: Vec<&str> = lineage.split("replaced by <a href=\"/tasks/").skip(1).collect();
    let parts: Vec<&str> = parts.into_iter().map(|rest| rest.split('"').next().unwrap()).collect();
    let german = scene.page(&format!("/tasks/{}", parts[0])).await;
    reads(&german, &["Lineage", &format!("planned in {breakdown}")]);

    // The same tree from every one of them, with the one that is looked at marked.
    for id in [&large.to_string(), &breakdown, parts[0], parts[1]] {
        let page = scene.page(&format!("/tasks/{id}/lineage")).await;
        let tree = part(&page, "<ul class=\"lineage\">", "</section>");
        reads(
            tree,
            &[
                &format!("Translate everything {large}"),
                &format!("Re-breakdown: Translate everything {breakdown} breaks it down: it was too large"),
                &format!("German {} planned here", parts[0]),
                &format!("Spanish {} planned here", parts[1]),
            ],
        );
        assert_eq!(tree.matches("<ul class=\"lineage\">").count(), 2, "three generations: {tree}");
        let marked = part(tree, "aria-current=\"true\"", "</div>");
        assert!(marked.contains(&format!("href=\"/tasks/{id}\"")), "{marked}");
    }
}

#[tokio::test]
async fn the_parts_of_a_first_plan_come_of_it_and_a_task_alone_says_so() {
    let scene = Scene::set().await;
    let alone = scene.add("Greet by name").await;
    reads(&scene.page(&format!("/tasks/{alone}/lineage")).await, &["It stands alone"]);
    let goal = scene.post("/api/breakdowns", &json!({ "title": "Speak French" })).await;
    let breakdown = goal["breakdown"]["task_id"].as_str().unwrap().to_owned();
    let plan = json!({ "items": [{ "title": "Find the words" }] });
    let (status, text) =
        scene.stage.send("patch", &format!("/api/breakdowns/{breakdown}"), Some(&plan)).await;
    assert_eq!(status, 200, "{text}");
    scene.post(&format!("/api/breakdowns/{breakdown}/approve"), &json!({})).await;
    let page = scene.page(&format!("/tasks/{breakdown}/lineage")).await;
    let tree = part(&page, "<ul class=\"lineage\">", "</section>");
    reads(tree, &["Speak French", "plans what is to be done", "Find the words", "planned here"]);
}

#[tokio::test]
async fn every_attempt_has_its_evidence_the_last_one_first() {
    let scene = Scene::set().await;
    let task = scene.add("Greet by name").await;
    reads(&scene.page(&format!("/tasks/{task}/evidence")).await, &["Nothing to compare yet"]);
    scene.stage.attempt(task, AttemptResult::Complete, "Done.", worked()).await;
    scene.post(&format!("/api/tasks/{task}/reject"), &json!({ "reason": "Too loud." })).await;
    let attempt = scene.stage.claim(task).await;
    let page = scene.page(&format!("/tasks/{task}/evidence")).await;
    reads(&page, &["Attempt 2 by claude", "▶ At work. What it reports is compared when it ends."]);
    let reported = AttemptReport::new(AttemptResult::NoChanges { reason: "it is quiet".to_owned() }, "");
    scene.stage.settle(task, attempt, reported, worked()).await;
    let page = scene.page(&format!("/tasks/{task}/evidence")).await;
    let second = part(&page, "id=\"attempt-2\"", "</section>");
    reads(second, &["Reported by the agent", "nothing to change", "Verified by Baton", "Commits 2"]);
    let first = part(&page, "id=\"attempt-1\"", "</section>");
    reads(first, &["Reported by the agent", "complete", "Verified by Baton", "Commits 2"]);
    assert!(page.find("attempt-2") < page.find("attempt-1"));
}

#[tokio::test]
async fn a_task_that_waits_has_its_reply_box_on_top() {
    let scene = Scene::set().await;
    let task = scene.add("Add the French greeting").await;
    scene.ask(task, "Formal or casual?", &["formal", "casual"]).await;
    let page = scene.page(&format!("/tasks/{task}")).await;
    let main = part(&page, "<main", "</main>");
    let (box_at, machine_at) = (main.find("<textarea").unwrap(), main.find("class=\"machine\"").unwrap());
    assert!(box_at < machine_at, "{main}");
    for tab in ["", "/log", "/diff", "/timeline", "/evidence", "/questions", "/lineage"] {
        let page = scene.page(&format!("/tasks/{task}{tab}")).await;
        let current = part(&page, "aria-label=\"Parts of this task\"", "</div>");
        let own = format!("href=\"/tasks/{task}{tab}\" aria-current=\"page\"");
        assert!(current.contains(&own), "each tab has an address of its own: {current}");
    }
}
