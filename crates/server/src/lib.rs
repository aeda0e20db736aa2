//! The outside of Baton.

pub mod wire;
