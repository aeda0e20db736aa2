//! Runs git: one program, one environment, one form of call. Everything that starts git is here; what it is asked is not.

pub(crate) mod call;
pub(crate) mod conversation;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod version;
