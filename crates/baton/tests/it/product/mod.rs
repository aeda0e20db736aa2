//! Set-up, projects, editing, import and export, backups, and the shell.

mod clones;
mod editing;
mod home;
mod importing;
mod project_settings;
mod projects;
mod repositories;
mod setups;
mod starting;
mod trust;
