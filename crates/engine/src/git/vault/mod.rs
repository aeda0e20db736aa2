//! Everything that was in a working folder, kept under hidden refs before the folder is removed (I17), and brought back.

pub(crate) mod contents;
pub(crate) mod folder;
mod hanging;
pub(crate) mod ignored;
pub(crate) mod remove;
pub(crate) mod restore;
pub(crate) mod retention;
pub(crate) mod snapshot;
mod tree;
