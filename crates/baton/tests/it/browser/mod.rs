//! The pages as a person sees them: a real browser, a real server, real agents.

mod accessible;
mod answering;
mod axe;
mod demo;
mod diff;
mod doing;
mod driver;
mod following;
mod keyboard;
mod large;
mod log;
mod pictures;
mod scene;
mod told;
mod without;
