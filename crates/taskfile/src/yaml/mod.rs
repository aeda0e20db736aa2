//! YAML as a tree with a position on every node.
//!
//! The scanner is `saphyr-parser`; the tree is ours because a Taskfile may repeat a name (the last one
//! counts, as in go-task), and because every mistake has to be shown where it is.

mod build;
mod error;
mod node;
mod scalar;

pub use build::{MAX_DEPTH, MAX_NODES, parse};
pub use error::YamlError;
pub use node::{Kind, Node, Position};
