//! What is typed to have Baton at home in the shell.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell [default: yours, by $SHELL]
    #[arg(value_enum)]
    pub shell: Option<Shell>,
    /// Put them where the shell finds them, instead of printing them
    #[arg(long)]
    pub install: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
}

impl Shell {
    pub const ALL: [Self; 4] = [Self::Bash, Self::Zsh, Self::Fish, Self::Elvish];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Elvish => "elvish",
        }
    }
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write a page for every command into this folder, instead of printing the first
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
}
