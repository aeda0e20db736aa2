//! Who is at the other end of a connection on this machine, and what that means (I19).
//!
//! A process of an attempt is an agent, whatever token it shows or hides: it may use the tools of its own attempt, look at
//! tasks and add some. Everything else is refused and recorded on its task. Other users of the machine need a token.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::Method;
use baton_engine::peer::{PeerOwner, owner_of_peer};
use tokio::sync::{OnceCell, Semaphore};

use crate::http::error::{ApiError, Code};

/// The two ends of a connection, set by the listener.
#[derive(Debug, Clone)]
pub struct Peer {
    pub address: SocketAddr,
    local: Option<SocketAddr>,
    /// Looked up once, at the first request.
    owner: Arc<OnceCell<PeerOwner>>,
}

/// Each lookup reads the tables of connections and processes; a thousand new connections must not do it all at once.
static LOOKUPS: Semaphore = Semaphore::const_new(4);

/// What agents may read without a tool: the queue, and what can be done with it.
const AGENT_READS: [&str; 9] = [
    "/api/health",
    "/api/tasks",
    "/api/tasks/ready",
    "/api/tasks/find",
    "/api/tasks/{id}",
    "/api/recipes",
    "/api/recipes/{id}",
    "/api/user-tasks",
    "/api/task-groups",
];
/// What agents may do without a tool; it is recorded as theirs.
const AGENT_POSTS: [&str; 1] = ["/api/tasks"];

impl Peer {
    pub fn new(address: SocketAddr, local: Option<SocketAddr>) -> Self {
        Self { address, local, owner: Arc::default() }
    }

    /// Only known for connections of this machine.
    pub async fn owner(&self) -> PeerOwner {
        let (address, Some(local)) = (self.address, self.local) else { return PeerOwner::Unknown };
        if !address.ip().to_canonical().is_loopback() && address.ip() != local.ip() {
            return PeerOwner::Unknown;
        }
        let find = || async move {
            let _permit = LOOKUPS.acquire().await;
            tokio::task::spawn_blocking(move || owner_of_peer(local, address))
                .await
                .unwrap_or(PeerOwner::Unknown)
        };
        *self.owner.get_or_init(find).await
    }
}

/// Whether an agent may make this call as it is.
pub(crate) fn is_for_agents(method: &Method, route: &str) -> bool {
    let is_read = [Method::GET, Method::HEAD].contains(method);
    (is_read && AGENT_READS.contains(&route)) || (*method == Method::POST && AGENT_POSTS.contains(&route))
}

/// Refuses other users of this machine, and senders that are gone before anyone could look.
pub(crate) fn check_user(owner: PeerOwner, method: &Method, has_credentials: bool) -> Result<(), ApiError> {
    let own = rustix::process::geteuid().as_raw();
    match owner {
        // Root may do everything anyway.
        PeerOwner::User(uid) if uid != own && uid != 0 && !has_credentials => Err(ApiError::new(
            Code::Unauthorized,
            "other users of this machine need a token",
            "ask the user who runs this server: baton token create NAME --role viewer",
        )),
        PeerOwner::Gone if ![Method::GET, Method::HEAD].contains(method) => Err(ApiError::new(
            Code::Forbidden,
            "the connection was closed before its sender was known",
            "keep the connection open until the response has arrived",
        )),
        PeerOwner::User(_) | PeerOwner::Gone | PeerOwner::Unknown | PeerOwner::Attempt(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_read_the_queue_and_add_to_it() {
        assert!(is_for_agents(&Method::GET, "/api/tasks/{id}"));
        assert!(is_for_agents(&Method::POST, "/api/tasks"));
        for (method, route) in [
            (Method::GET, "/api/questions"),
            (Method::GET, "/api/tokens"),
            (Method::GET, "/"),
            (Method::POST, "/api/tasks/{id}/accept"),
            (Method::PATCH, "/api/tasks/{id}"),
            (Method::DELETE, "/api/tasks"),
        ] {
            assert!(!is_for_agents(&method, route), "{method} {route}");
        }
    }

    #[test]
    fn other_users_need_a_token() {
        let own = rustix::process::geteuid().as_raw();
        let other = PeerOwner::User(own + 1);
        assert!(check_user(other, &Method::GET, false).is_err());
        assert!(check_user(other, &Method::GET, true).is_ok());
        assert!(check_user(PeerOwner::User(own), &Method::POST, false).is_ok());
        assert!(check_user(PeerOwner::User(0), &Method::POST, false).is_ok());
        assert!(check_user(PeerOwner::Gone, &Method::POST, false).is_err());
        assert!(check_user(PeerOwner::Gone, &Method::GET, false).is_ok());
    }
}
