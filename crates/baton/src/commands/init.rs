//! `baton init`: writes the settings and the Taskfile of a repository.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use baton_engine::git::{Git, GitError, Repository};
use baton_engine::reports::survey::{InitFiles, Survey, agents};
use baton_engine::settings::folder_kind::FolderKind;
use baton_engine::settings::location::StateLocation;
use baton_engine::user_tasks::TASKFILE;
use serde_json::json;

use crate::cli::projects::InitArgs;
use crate::context;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output;

/// One file and what was done with it.
struct InitFile {
    path: PathBuf,
    what: FileAction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileAction {
    New,
    /// It existed and was left alone.
    Kept,
    /// It existed and `--force` was given; the old one has the suffix `.before`.
    Replaced,
}

pub(crate) fn run(options: &GlobalOptions, args: &InitArgs) -> Result<String, CliError> {
    let folder = context::current_dir()?;
    let place = StateLocation::find(&folder, &options.place())?;
    context::attempt::check_is_person(&place)?;
    if place.kind() == FolderKind::Bare {
        let root = place.root.display();
        return Err(CliError::refused(
            format!("{root} is a bare repository, without files to work on"),
            format!("clone it and run baton in the clone: git clone {root}"),
        ));
    }
    let set_up = InitFiles { survey: Survey::scan(&place.root), agents: agents::find_installed() };
    let files = [
        write(&place.settings_path(), &set_up.settings(), args.force)?,
        write(&place.root.join(TASKFILE), &set_up.taskfile(), args.force)?,
    ];
    let is_repository = place.kind() == FolderKind::Checkout;
    if options.json {
        return output::json(&json!({
            "root": place.root,
            "is_repository": is_repository,
            "agents": set_up.agents,
            "checks": set_up.checks(),
            "user_tasks": set_up.survey.suggestions.iter().map(|each| &each.name).collect::<Vec<_>>(),
            "files": files.iter().map(|file| json!({ "path": file.path, "state": file.what.word() })).collect::<Vec<_>>(),
        }));
    }
    let start = if is_repository {
        super::block_on(async { Ok(first_commit(&place).await) })?
    } else {
        Some(FirstStep::Repository)
    };
    Ok(render(&place.root, start, &set_up, &files))
}

/// What agents need before anything else.
#[derive(Clone, Copy)]
enum FirstStep {
    Repository,
    Commit,
}

/// A repository without a commit has nothing that a worktree could start from.
async fn first_commit(place: &StateLocation) -> Option<FirstStep> {
    let opened = async { Repository::open(&Git::on_path(), &place.root).await?.default_branch().await };
    // Whatever else is wrong with it, `baton doctor` says.
    matches!(opened.await, Err(GitError::NoCommits { .. })).then_some(FirstStep::Commit)
}

impl FileAction {
    const fn word(self) -> &'static str {
        match self {
            Self::New => "written",
            Self::Kept => "kept",
            Self::Replaced => "replaced",
        }
    }
}

fn write(path: &Path, text: &str, force: bool) -> Result<InitFile, CliError> {
    let failed = |error: std::io::Error| {
        CliError::failed(
            format!("cannot write {}: {error}", path.display()),
            "check permissions and free space",
        )
    };
    let what = match (path.exists(), force) {
        (true, false) => return Ok(InitFile { path: path.to_owned(), what: FileAction::Kept }),
        (true, true) => {
            let mut before = path.as_os_str().to_owned();
            before.push(".before");
            fs::rename(path, before).map_err(failed)?;
            FileAction::Replaced
        }
        (false, _) => FileAction::New,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)?;
    Ok(InitFile { path: path.to_owned(), what })
}

fn render(root: &Path, start: Option<FirstStep>, set_up: &InitFiles, files: &[InitFile]) -> String {
    let mut text = String::new();
    let sources = set_up.survey.sources();
    // Writing to a String cannot fail.
    let found = if sources.is_empty() {
        "no known build files".to_owned()
    } else {
        format!("found {}", sources.join(", "))
    };
    let _ = writeln!(text, "Inspected {}: {found}.", root.display());
    let agents = if set_up.agents.is_empty() {
        "No known agent is installed; any program can be one (see the settings).".to_owned()
    } else {
        format!("Installed agents: {}.", set_up.agents.join(", "))
    };
    let _ = writeln!(text, "{agents}");
    text.push('\n');
    for file in files {
        let name = file.path.strip_prefix(root).unwrap_or(&file.path).display();
        let _ = match file.what {
            FileAction::New => writeln!(text, "  {name}  written"),
            FileAction::Kept => {
                writeln!(text, "  {name}  exists, left alone (--force overwrites it)")
            }
            FileAction::Replaced => writeln!(text, "  {name}  written; the old one is {name}.before"),
        };
    }
    text.push_str("\nNext:\n");
    match start {
        Some(FirstStep::Repository) => {
            text.push_str("  git init && git commit --allow-empty -m start   agents work in git worktrees\n");
        }
        Some(FirstStep::Commit) => {
            text.push_str("  git add -A && git commit -m start               agents start from a commit\n");
        }
        None => {}
    }
    if set_up.agents.is_empty() {
        text.push_str("  baton demo                                      a tour without an agent\n");
    }
    text.push_str(
        "  baton doctor                                    check the setup\n  \
         baton tasks                                     the repository's user tasks\n  \
         baton task add \"Fix the login\"                  add a task\n  \
         baton up                                        run agents and the web UI at http://127.0.0.1:5678\n",
    );
    text
}
