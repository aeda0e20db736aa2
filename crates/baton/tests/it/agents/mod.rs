//! Agents of every kind as `baton up` runs them: set up by the settings, asked about, resumed, held and measured.

mod asking;
mod fake;
mod outcomes;
mod settings;
