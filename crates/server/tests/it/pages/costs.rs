//! The costs: the same on the page, in the API and in the navigation.

use super::{Scene, part, reads};

#[tokio::test]
async fn costs_are_summed_by_project_agent_and_task() {
    let scene = Scene::set().await;
    let (first, second) = (scene.add("Greet by name").await, scene.add("Set up").await);
    for task in [first, second] {
        scene.finish(task).await;
    }
    let (_, text) = scene.stage.send("get", "/api/costs", None).await;
    let costs: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(costs["total"]["cost_micro_usd"], 680_000, "{costs}");
    assert_eq!(costs["by_agent"][0]["id"], "claude", "{costs}");
    assert_eq!(costs["by_task"].as_array().map(Vec::len), Some(2), "{costs}");
    let page = scene.page("/costs").await;
    reads(
        &page,
        &[
            "Ended attempts $0.68 2 attempts",
            "By project",
            "No project $0.68",
            "By agent",
            "claude $0.68",
            "By task",
            "$0.34",
        ],
    );
    // The navigation leads here, with the same sum.
    let spent = part(&page, "id=\"spent\"", "</a>");
    assert!(spent.contains("href=\"/costs\""), "{spent}");
    let today = part(part(&page, "id=\"today\"", "</dd>"), ">", "<").to_owned();
    reads(spent, &[&format!("{today} today")]);
    // Tomorrow it is not today's any more, but still this week's.
    scene.pass(24 * 60 * 60 * 1_000);
    reads(&scene.page("/costs").await, &["No attempt has ended"]);
    reads(&scene.page("/costs?span=week").await, &["Ended attempts $0.68"]);
    assert_eq!(scene.stage.send("get", "/costs?span=century", None).await.0, 400);
    assert_eq!(scene.stage.send("get", "/api/costs?since=yesterday", None).await.0, 400);
}
