//! Baton from the first minute on: set-up, projects, work brought in and taken out, copies, the shell.

mod editing;
mod home;
mod importing;
mod projects;
