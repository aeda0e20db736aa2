//! The pages as a person sees them: a real browser, a real server, real agents.

mod accessible;
mod actions;
mod answering;
mod axe;
mod board;
mod demo;
mod diff;
mod driver;
mod for_you;
mod keyboard;
mod landing;
mod large;
mod limited_clients;
mod live_updates;
mod log;
mod notifications;
mod running;
mod scene;
mod showcase;
