//! Accepting finished work: merging it into its branch and marking the task as done.

pub mod acceptor;
pub mod error;
