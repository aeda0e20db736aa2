//! What somebody must be to make a call. What is not said here may be read by everybody and done by operators alone, so
//! a new call is closed until somebody opens it.

use axum::http::Method;
use baton_core::person_role::PersonRole;

use crate::http::error::{ApiError, Code};
use crate::http::paths;

/// What responders may do beside reading: answer, reply and chat.
const RESPONDER_ROUTES: [&str; 7] = [
    "/api/questions/{id}/answer",
    "/api/tasks/{id}/reply",
    "/api/projects/{id}/chat",
    "/api/sessions/{id}/messages",
    "/api/sessions/{id}/answers",
    "/questions/{id}/answer",
    "/chat/{session}",
];

/// Sent like a deed, and changing nothing by themselves: a look ahead, and what agents use, each of which says itself
/// whom it is for.
const VIEWER_POSTS: [&str; 3] = ["/api/tasks/accept-preview", "/api/tools/{name}", "/api/attempt/questions"];

/// Read by operators alone: who may come in.
const OPERATOR_READS: [&str; 1] = ["/api/tokens"];

/// The role a call needs, by its route.
pub fn required_role(method: &Method, route: &str) -> PersonRole {
    let is_read = [Method::GET, Method::HEAD, Method::OPTIONS].contains(method);
    if OPERATOR_READS.contains(&route) {
        PersonRole::Operator
    } else if is_read || route == paths::MCP || VIEWER_POSTS.contains(&route) {
        PersonRole::Viewer
    } else if RESPONDER_ROUTES.contains(&route) {
        PersonRole::Responder
    } else {
        PersonRole::Operator
    }
}

/// Says what is missing, and how it is got.
pub fn check(role: PersonRole, needed: PersonRole, what: &str) -> Result<(), ApiError> {
    if role.may(needed) {
        return Ok(());
    }
    Err(ApiError::new(
        Code::Forbidden,
        format!("{what} needs the role {needed}, and this token is a {role}'s"),
        format!("ask an operator for a token that may: baton token create NAME --role {needed}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_opened_is_for_operators() {
        assert_eq!(required_role(&Method::POST, "/api/something/new"), PersonRole::Operator);
        assert_eq!(required_role(&Method::DELETE, "/api/sessions/{id}/recipe"), PersonRole::Operator);
        assert_eq!(required_role(&Method::GET, "/api/something/new"), PersonRole::Viewer);
        assert_eq!(required_role(&Method::GET, "/api/tokens"), PersonRole::Operator);
    }

    #[test]
    fn a_refusal_names_both_roles() {
        let refusal = check(PersonRole::Viewer, PersonRole::Responder, "this call").unwrap_err();
        assert_eq!(refusal.message, "this call needs the role responder, and this token is a viewer's");
        assert!(check(PersonRole::Operator, PersonRole::Responder, "this call").is_ok());
    }
}
