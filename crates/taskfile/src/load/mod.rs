//! From a path to one Taskfile with everything it includes merged in. Nothing is evaluated here except the
//! templates in include paths.

mod dotenv;
mod error;
mod find;
mod graph;
mod merge;
mod snippet;
mod stamp;

pub use dotenv::{DotenvError, parse as parse_dotenv};
pub use error::LoadError;
pub use find::find_taskfile;
pub use graph::{LoadedTaskfile, load};
pub use stamp::FileStamp;
