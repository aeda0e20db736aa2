//! `baton tasks`, `baton do`: the project's own commands, without a store.

use baton_engine::user_tasks::{Site, TASKFILE, UserTaskError, UserTaskList, UserTasks};

use crate::cli::Common;
use crate::fault::{FAILED, Fault, REFUSED, UNREACHABLE, USAGE};
use crate::office;
use crate::output;

pub fn list(common: &Common, trust: bool) -> Result<String, Fault> {
    let (tasks, site) = open(common)?;
    if trust {
        tasks.trust(&site)?;
        output::talk(&format!("{TASKFILE} may run as it is now."));
    }
    let list = match tasks.list(&site) {
        // Nothing is wrong: there are none.
        Err(error @ UserTaskError::NoTaskfile) => {
            UserTaskList { tasks: Vec::new(), message: format!("{error}; {}", error.hint()) }
        }
        listed => listed?,
    };
    if common.json {
        return output::json(&list);
    }
    if list.tasks.is_empty() {
        return Ok(format!("No user tasks: {}\n", list.message));
    }
    let rows: Vec<[String; 2]> = list.tasks.into_iter().map(|task| [task.name, task.description]).collect();
    Ok(output::table(["NAME", "DESCRIPTION"], &rows))
}

/// In this terminal, with its streams and for as long as it takes: the person can end it.
pub fn run(common: &Common, name: &str, args: &[String]) -> Result<i32, Fault> {
    let (tasks, site) = open(common)?;
    tasks.ready_to_run(&site, name)?;
    let (file, root) = (site.taskfile(), &site.root);
    let mut words: Vec<String> = ["-x", "-t", &file.to_string_lossy(), "-d", &root.to_string_lossy(), name]
        .map(str::to_owned)
        .to_vec();
    words.push("--".to_owned());
    words.extend_from_slice(args);
    Ok(baton_engine::task_cli::main(&words))
}

fn open(common: &Common) -> Result<(UserTasks, Site), Fault> {
    let (place, settings) = office::find(common)?;
    Ok((UserTasks::new(&place.state_dir, settings.user_tasks), Site::of_person(&place.root)))
}

impl From<UserTaskError> for Fault {
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
        Self { message: error.to_string(), hint: error.hint(), code }
    }
}
