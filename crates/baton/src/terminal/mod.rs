//! The person's own machine: their terminal, editor and browser, and the signals they send.
//!
//! Printing is not here; that is `output`.

pub(crate) mod answers;
pub(crate) mod browser;
pub(crate) mod editor;
pub(crate) mod input;
pub(crate) mod pager;
pub(crate) mod signals;
