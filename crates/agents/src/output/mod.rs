//! Text that agents write, kept in bounded space: lines, excerpts, the attempt log and output to watch.
//!
//! Nothing here interprets a line; that is for `report` and `protocols`.

pub mod activity;
pub mod excerpt;
pub mod lines;
pub mod live;
pub mod log;
