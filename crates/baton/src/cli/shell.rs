//! What is typed to have Baton at home in the shell.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell [default: from $SHELL]
    #[arg(value_enum)]
    pub(crate) shell: Option<Shell>,
    /// Install them instead of printing them
    #[arg(long)]
    pub(crate) install: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
}

impl Shell {
    pub(crate) const ALL: [Self; 4] = [Self::Bash, Self::Zsh, Self::Fish, Self::Elvish];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Elvish => "elvish",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write one page per command into this directory, instead of printing the main page
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
}
