//! From a path to one Taskfile with everything it includes.

mod dotenv;
mod error;
mod find;
mod graph;
mod merge;
mod snippet;
mod stamp;

pub use dotenv::{DotenvError, parse as parse_dotenv};
pub use error::LoadError;
pub use find::find;
pub(crate) use find::join;
pub use graph::{Loaded, load};
pub use stamp::FileStamp;
