//! The loop: claim, run, settle.
