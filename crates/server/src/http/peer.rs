//! Who is at the other end of a connection on this machine, and what that means (I19).
//!
//! A process of an attempt is an agent, whatever token it shows or hides: it may use the tools of its own attempt, look at
//! tasks and add some. Everything else is refused and recorded on its task. Other users of the machine need a token.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::http::Method;
use baton_core::base::id::AttemptId;
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
        let find = || async move {
            let _permit = LOOKUPS.acquire().await;
            tokio::task::spawn_blocking(move || owner_of_peer(local, address))
                .await
                .unwrap_or(PeerOwner::Unknown)
        };
        *self.owner.get_or_init(find).await
    }

    /// Who its requests count for.
    pub async fn sender(&self) -> Sender {
        match self.owner().await {
            PeerOwner::Attempt(attempt) => Sender::Attempt(attempt),
            PeerOwner::User(uid) => Sender::User(uid),
            PeerOwner::Unseen | PeerOwner::Gone | PeerOwner::Unknown => Sender::Address(self.address.ip()),
        }
    }
}

/// Whether an agent may make this call as it is.
pub(crate) fn is_for_agents(method: &Method, route: &str) -> bool {
    let is_read = [Method::GET, Method::HEAD].contains(method);
    (is_read && AGENT_READS.contains(&route)) || (*method == Method::POST && AGENT_POSTS.contains(&route))
}

/// Who a request counts for, where requests are limited: no process of an attempt uses up the person's share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sender {
    Address(IpAddr),
    Attempt(AttemptId),
    User(u32),
}

/// Refuses senders that are gone before anyone could look. The error is for those who must show a valid token, even where
/// the server needs none.
pub(crate) fn check_sender(owner: PeerOwner) -> Result<Option<ApiError>, ApiError> {
    let own = rustix::process::geteuid().as_raw();
    match owner {
        // Root may do everything anyway.
        PeerOwner::User(uid) if uid != own && uid != 0 => Ok(Some(ApiError::new(
            Code::Unauthorized,
            "other users of this machine need a token",
            "ask the user who runs this server: baton token create NAME --role viewer",
        ))),
        PeerOwner::Unseen => Ok(Some(ApiError::new(
            Code::Unauthorized,
            "no program is seen to have made this connection, and agents are at work that may have",
            "log in with a token: baton token create NAME --role operator",
        ))),
        // Nobody reads the answer; but what it asks for would be done.
        PeerOwner::Gone => Err(ApiError::new(
            Code::Forbidden,
            "the connection was closed before its sender was known",
            "keep the connection open until the response has arrived",
        )),
        PeerOwner::User(_) | PeerOwner::Unknown | PeerOwner::Attempt(_) => Ok(None),
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
    fn only_whoever_is_known_as_this_user_needs_no_token() {
        let own = rustix::process::geteuid().as_raw();
        for stranger in [PeerOwner::User(own + 1), PeerOwner::Unseen] {
            assert!(check_sender(stranger).unwrap().is_some(), "{stranger:?}");
        }
        for person in [PeerOwner::User(own), PeerOwner::User(0), PeerOwner::Unknown] {
            assert!(check_sender(person).unwrap().is_none(), "{person:?}");
        }
        assert!(check_sender(PeerOwner::Gone).is_err());
    }
}
