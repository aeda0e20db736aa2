//! YAML as a tree with a position on every node. What the nodes mean to a Taskfile belongs to `ast`.
//!
//! The scanner is `saphyr-parser`. The tree is our own because a Taskfile may repeat a key (the last one wins,
//! as in go-task) and because every error must point at its position.

mod build;
mod error;
mod node;
mod scalar;

pub use build::{MAX_DEPTH, MAX_NODES, parse, parse_strict};
pub use error::YamlError;
pub use node::{Position, YamlKind, YamlNode};
pub(crate) use scalar::resolve_plain;
