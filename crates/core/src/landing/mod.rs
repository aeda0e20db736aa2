//! Landing: how accepted work gets into its branch (I18).
//!
//! Each branch has a lane. Its candidates are merged in order on the branch's tip, as objects, and the checks run on exactly
//! what is to become the branch. [`verdict`] is what the checks said about one tree; [`search`] decides from the verdicts what
//! to check, land or send back next. It keeps no state of its own: after a crash the same verdicts lead to the same step.
//! [`policy`] says who accepts, [`review`] what another agent says about it. Building, checking and moving branches belong to the engine; states of tasks are in [`crate::task`].

pub mod evidence;
pub mod lane;
pub mod policy;
pub mod review;
pub mod search;
pub mod verdict;
pub mod verified;
