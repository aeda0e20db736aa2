//! The vocabulary of every other folder: ids, names, text, time, priorities and types of tasks.
//!
//! Nothing here knows a task, a question or a person, and nothing here imports another folder.

pub mod accept_policy;
pub mod explanation;
pub mod git_name;
pub mod id;
pub(crate) mod inline_text;
pub mod path_glob;
pub mod priority;
pub mod redact;
pub mod remote_url;
pub mod task_type;
pub mod text;
pub mod time;
pub mod title;
pub mod words;
