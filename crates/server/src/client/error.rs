//! Why a command got no answer, or not the one it wanted.

use crate::http::error::ApiError;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody takes connections there, or whoever does is not let through.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    #[error("the server broke off in the middle: {0}")]
    Broken(String),
    #[error("the server gave no answer within {0} s")]
    Silent(u64),
    /// It said no, and why.
    #[error("{}", .0.message)]
    Refused(ApiError),
    /// What came is not what this version of Baton expects.
    #[error("the server's answer cannot be read: {0}")]
    Garbled(String),
}
