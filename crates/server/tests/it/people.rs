//! People with access tokens: actions are recorded under their name, as long as the token is valid.

use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::people::role::PersonRole;
use baton_engine::people::AccessTokens;
use serde_json::{Value, json};

use crate::stage::Stage;

async fn made(stage: &Stage, name: &str, role: &str) -> String {
    let (status, text) =
        stage.send("post", "/api/tokens", Some(&json!({ "name": name, "role": role }))).await;
    assert_eq!(status, 201, "{text}");
    serde_json::from_str::<Value>(&text).unwrap()["token"].as_str().unwrap().to_owned()
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

async fn last_actor(stage: &Stage) -> Actor {
    stage.tasks.store.events_after(0, 500).await.unwrap().pop().unwrap().event.by
}

#[tokio::test]
async fn actions_are_recorded_under_the_persons_name() {
    let stage = Stage::set().await;
    let ada = bearer(&made(&stage, "ada", "operator").await);
    assert_eq!(last_actor(&stage).await, Actor::human("mia"), "who handed it out is known too");
    let task = json!({ "title": "Fix the login" });
    let (status, body) = stage.send_with(&ada, "post", "/api/tasks", Some(&task)).await;
    assert_eq!((status, last_actor(&stage).await), (201, Actor::human("ada")), "{body}");
    let (status, _) = stage.send("post", "/api/tasks", Some(&task)).await;
    assert_eq!((status, last_actor(&stage).await), (201, Actor::human("mia")));
    // Holders of the server's token choose their name; other people are named by their token.
    let zoe = "x-baton-person: zoë\r\n";
    stage.send_with(zoe, "post", "/api/tasks", Some(&task)).await;
    assert_eq!(last_actor(&stage).await, Actor::human("zoë"));
    stage.send_with(&format!("{ada}{zoe}"), "post", "/api/tasks", Some(&task)).await;
    assert_eq!(last_actor(&stage).await, Actor::human("ada"));
    // A name that cannot be recorded is not replaced by the owner's.
    for name in ["a\u{9}b".to_owned(), "z".repeat(65)] {
        let header = format!("x-baton-person: {name}\r\n");
        let (status, body) = stage.send_with(&header, "post", "/api/tasks", Some(&task)).await;
        assert_eq!(status, 400, "{body}");
    }
    assert_eq!(last_actor(&stage).await, Actor::human("ada"), "nothing was recorded");
}

#[tokio::test]
async fn a_secret_is_returned_once_and_not_stored() {
    let stage = Stage::set().await;
    let token = made(&stage, "ada", "viewer").await;
    let random = token.split_once('.').unwrap().1;
    let stored = stage.tasks.store.access_tokens().await.unwrap();
    let events = stage.tasks.store.events_after(0, 500).await.unwrap();
    let kept =
        format!("{} {}", serde_json::to_string(&stored).unwrap(), serde_json::to_string(&events).unwrap());
    assert!(!kept.contains(random), "{kept}");
    let (_, listed) = stage.send("get", "/api/tokens", None).await;
    assert!(listed.contains("\"ada\"") && !listed.contains(random) && !listed.contains("digest"), "{listed}");
}

#[tokio::test]
async fn invalid_revoked_and_expired_tokens_are_refused() {
    let stage = Stage::set().await;
    let token = made(&stage, "ada", "operator").await;
    let health = |token: String| {
        let stage = &stage;
        async move { stage.send_with(&bearer(&token), "get", "/api/health", None).await.0 }
    };
    assert_eq!(health(token.clone()).await, 200);
    let wrong = format!("{}0", &token[..token.len() - 1]);
    let wrong = if wrong == token { format!("{}1", &token[..token.len() - 1]) } else { wrong };
    for bad in [wrong, "baton_".to_owned(), token.replace("ada", "bob"), format!("{token}0")] {
        assert_eq!(health(bad).await, 401);
    }
    let (status, body) =
        stage.send("post", "/api/tokens", Some(&json!({ "name": "ada", "role": "viewer" }))).await;
    assert_eq!(status, 409, "{body}");
    assert_eq!(stage.send("delete", "/api/tokens/ada", None).await.0, 200);
    assert_eq!(stage.send("delete", "/api/tokens/ada", None).await.0, 404);
    assert_eq!(health(token.clone()).await, 401);
    let again = made(&stage, "ada", "viewer").await;
    assert_eq!((health(again).await, health(token).await), (200, 401), "the old one stays revoked");

    let over = json!({ "name": "eve", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z" });
    assert_eq!(stage.send("post", "/api/tokens", Some(&over)).await.0, 400);
}

#[tokio::test]
async fn an_expired_token_ends_open_streams() {
    let now = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(1_000_000));
    let clock = std::sync::Arc::clone(&now);
    let stage = Stage::at(move || Timestamp::from_ms(clock.load(std::sync::atomic::Ordering::SeqCst))).await;
    let end = Some(Timestamp::from_ms(2_000_000));
    let name = "ada".parse().unwrap();
    let by = Actor::human("mia");
    let (_, secret) =
        AccessTokens::new(&stage.tasks).create(&name, PersonRole::Viewer, end, by).await.unwrap();
    let shown = bearer(secret.reveal());
    assert_eq!(stage.send_with(&shown, "get", "/api/health", None).await.0, 200);
    now.store(2_000_000, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(stage.send_with(&shown, "get", "/api/health", None).await.0, 401);
}

#[tokio::test]
async fn login_sets_a_cookie_that_is_not_the_token() {
    let stage = Stage::set().await;
    let token = made(&stage, "ada", "viewer").await;
    let (status, head) = stage.head("post", "/api/login", &json!({ "token": token })).await;
    assert_eq!(status, 200, "{head}");
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let pair = cookie.split(';').next().unwrap();
    assert!(!cookie.contains(token.split_once('.').unwrap().1), "{cookie}");
    let shown = format!("cookie: {pair}\r\n");
    assert_eq!(stage.send_with(&shown, "get", "/api/health", None).await.0, 200);
    let (status, body) = stage.send_with(&shown, "post", "/api/tasks", Some(&json!({ "title": "X" }))).await;
    assert_eq!(status, 403, "as what they are: {body}");
    let (status, _) = stage.head("post", "/api/login", &json!({ "token": format!("{token}0") })).await;
    assert_eq!(status, 401);
}
