//! Text that agents write, kept in bounded space: lines, excerpts and the attempt log.
//!
//! Nothing here interprets a line; that is for `report` and `protocols`.

pub mod excerpt;
pub(crate) mod lines;
pub mod log;
