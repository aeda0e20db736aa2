//! Landing: how accepted work gets into its branch.
//!
//! [`acceptor`] takes the decision. Without checks it merges at once. With checks the task waits in the lane of its branch:
//! [`lander`] goes through the lane step by step (`steps`): it merges the candidates as objects (`batch`), runs the checks on exactly
//! what is to become the branch (`checking`) and moves the branch there, or sends a task back (`moving`, I18). Core decides what to do next; nothing that a crash
//! could lose is kept in memory. [`board`] is what people see of it ([`views`]): the lanes, the output of the checks while they run
//! ([`live_runs`]) and what landed or was sent back lately ([`history`]); [`trial`] is what they would see. [`reviewer`] has
//! another agent look at work first. `ahead` checks batches before their turn, as far as [`check_room`] allows; `foundations` is work that a
//! task was started on before it had landed, `start` the person's own commits that it was started from,
//! `ground` what everything is merged on, `withdrawn` commits that a person took back, `lost` work that has landed and is gone. The states of tasks are not in here.

pub mod acceptor;
mod ahead;
mod batch;
pub mod board;
pub mod check_room;
mod checking;
mod early_end;
pub mod error;
mod foundations;
mod ground;
pub mod history;
pub mod lander;
pub mod lanes;
pub mod live_runs;
pub(crate) mod lost;
mod merging;
mod met;
mod moving;
pub mod reviewer;
pub mod standing;
mod start;
mod steps;
pub mod task_landing;
pub mod trial;
mod verification;
pub mod views;
mod way_in;
pub(crate) mod withdrawn;
