//! The outside of Baton.
