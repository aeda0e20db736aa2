//! From a path to one Taskfile with everything it includes merged in. Nothing is evaluated here except the
//! templates in include paths.

mod dotenv;
mod error;
mod find;
mod graph;
mod merge;
mod regular;
mod snippet;
mod stamp;
mod tree;

pub(crate) use dotenv::{DotenvError, parse as parse_dotenv};
pub use error::LoadError;
pub(crate) use find::find_taskfile;
pub(crate) use graph::{LoadedTaskfile, load};
pub use regular::read_regular_file;
pub(crate) use stamp::FileStamp;
pub use tree::ProjectTree;
