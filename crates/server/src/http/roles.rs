//! The role each route requires. Routes not listed here need viewer for reads and operator for everything else, so a new
//! route is closed by default.

use axum::http::Method;
use baton_core::people::role::PersonRole;

use crate::http::error::{ApiError, Code};
use crate::http::paths;

/// What responders may do besides reading: answer, reply and talk.
const RESPONDER_ROUTES: [&str; 9] = [
    "/api/tasks/{id}/messages",
    "/tasks/{id}/say",
    "/api/questions/{id}/answer",
    "/api/tasks/{id}/reply",
    "/api/projects/{id}/chat",
    "/api/sessions/{id}/messages",
    "/api/sessions/{id}/answers",
    "/questions/{id}/answer",
    "/chat/{session}",
];

/// POST routes that viewers may call: a preview that changes nothing, and the agents' calls, which check permissions
/// themselves.
const VIEWER_POSTS: [&str; 3] = ["/api/tasks/accept-preview", "/api/tools/{name}", "/api/attempt/questions"];

/// GET routes that only operators may call.
const OPERATOR_READS: [&str; 1] = ["/api/tokens"];

/// The role a route requires.
pub(crate) fn required_role(method: &Method, route: &str) -> PersonRole {
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

/// Refuses an insufficient role, naming both roles.
pub(crate) fn check(role: PersonRole, needed: PersonRole, what: &str) -> Result<(), ApiError> {
    if role.may(needed) {
        return Ok(());
    }
    Err(ApiError::new(
        Code::Forbidden,
        format!("{what} needs the role {needed}; this token has the role {role}"),
        format!("ask an operator for a token with that role: baton token create NAME --role {needed}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlisted_routes_need_operator() {
        assert_eq!(required_role(&Method::POST, "/api/something/new"), PersonRole::Operator);
        assert_eq!(required_role(&Method::DELETE, "/api/sessions/{id}/recipe"), PersonRole::Operator);
        assert_eq!(required_role(&Method::GET, "/api/something/new"), PersonRole::Viewer);
        assert_eq!(required_role(&Method::GET, "/api/tokens"), PersonRole::Operator);
    }

    #[test]
    fn the_error_names_both_roles() {
        let refusal = check(PersonRole::Viewer, PersonRole::Responder, "this call").unwrap_err();
        assert_eq!(refusal.message, "this call needs the role responder; this token has the role viewer");
        assert!(check(PersonRole::Operator, PersonRole::Responder, "this call").is_ok());
    }
}
