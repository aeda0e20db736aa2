//! `baton tasks`, `baton do`: user tasks, without a store.

use std::path::Path;
use std::time::Duration;

use baton_engine::settings::place::{Place, PlaceOptions};
use baton_engine::user_tasks::{Site, TASKFILE, UserTaskError, UserTaskList, UserTasks};

use crate::context;
use crate::error::{self, CliError, FAILED, REFUSED, UNREACHABLE, USAGE};
use crate::options::GlobalOptions;
use crate::output;

pub(crate) fn list(options: &GlobalOptions, trust: bool) -> Result<String, CliError> {
    let (tasks, site) = open(options)?;
    if trust {
        if std::env::var_os("BATON_TOKEN").is_some() {
            return Err(CliError::refused(
                "an agent cannot trust the Taskfile on behalf of its user",
                "run the task; Baton asks the user",
            ));
        }
        tasks.trust(&site)?;
        output::talk(&format!("Trusted {TASKFILE} as it is now."));
    }
    let list = match tasks.list(&site) {
        // Not an error: there are none.
        Err(error @ UserTaskError::NoTaskfile) => {
            UserTaskList { tasks: Vec::new(), message: format!("{error}; {}", error.hint()) }
        }
        listed => listed?,
    };
    if options.json {
        return output::json(&list);
    }
    if list.tasks.is_empty() {
        return Ok(format!("No user tasks: {}\n", list.message));
    }
    let rows: Vec<[String; 2]> = list.tasks.into_iter().map(|task| [task.name, task.description]).collect();
    Ok(output::table(["NAME", "DESCRIPTION"], &rows))
}

/// Runs in this terminal with its streams. No time limit by default: the person can press Ctrl-C.
pub(crate) fn run(
    options: &GlobalOptions,
    name: &str,
    timeout: Option<u64>,
    args: &[String],
) -> Result<i32, CliError> {
    let (tasks, site) = open(options)?;
    match tasks.ready_to_run(&site, name) {
        Err(UserTaskError::Untrusted) if confirm_trust(&tasks, &site)? => {}
        ready => drop(ready?),
    }
    let (file, folder) = (site.taskfile(), &site.folder);
    let mut words: Vec<String> = ["-x", "-t", &file.to_string_lossy(), "-d", &folder.to_string_lossy(), name]
        .map(str::to_owned)
        .to_vec();
    words.push("--".to_owned());
    words.extend_from_slice(args);
    Ok(baton_engine::task_cli::main_within(&words, timeout.map(Duration::from_secs)))
}

/// Asks the person at the terminal, if there is one. A yes covers only the version they could read when asked.
fn confirm_trust(tasks: &UserTasks, site: &Site) -> Result<bool, CliError> {
    let digest = tasks.digest(site)?;
    let question = format!(
        "{} is new or has changed. Its commands run with your permissions. Trust it?",
        site.taskfile().display()
    );
    Ok(output::confirm(&question) && tasks.trust_if(site, &digest)?)
}

fn open(options: &GlobalOptions) -> Result<(UserTasks, Site), CliError> {
    let (place, settings) = context::find(options)?;
    let mut site = Site::of_person(&place.root);
    if options.root.is_some() {
        // Called for another repository, as an agent in its worktree does: run where the caller is.
        site.folder = Place::find(Path::new("."), &PlaceOptions::default())?.root;
    }
    Ok((UserTasks::new(&place.state_dir, settings.user_tasks), site))
}

impl From<UserTaskError> for CliError {
    fn from(error: UserTaskError) -> Self {
        let code = match &error {
            UserTaskError::NoTaskfile
            | UserTaskError::Unknown { .. }
            | UserTaskError::OpenQuote
            | UserTaskError::TemplateInArgs
            | UserTaskError::Unreadable(_) => USAGE,
            UserTaskError::Untrusted => REFUSED,
            UserTaskError::Folder { .. } => UNREACHABLE,
            UserTaskError::Lost(_) => FAILED,
        };
        Self {
            message: error.to_string(),
            hint: error::with_code(&error.hint(), error.explained().code),
            code,
        }
    }
}
