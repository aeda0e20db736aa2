//! Why a request failed.

use crate::http::error::ApiError;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The connection was refused or timed out.
    #[error("cannot reach the server: {0}")]
    Unreachable(String),
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error("the server did not respond within {0} s")]
    Silent(u64),
    /// The server returned an error.
    #[error("{}", .0.message)]
    Refused(ApiError),
    /// The response is not what this version of Baton expects.
    #[error("cannot parse the server's response: {0}")]
    Garbled(String),
}
