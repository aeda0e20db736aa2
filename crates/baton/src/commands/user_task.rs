//! `baton tasks`, `baton do`: user tasks, without a store.
//!
//! An agent runs them itself, in its own tree and fence, where it sees the definitions and may run them; else its server does.

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_engine::attempt::host::user_tasks_here;
use baton_engine::settings::location::{LocationOptions, StateLocation};
use baton_engine::user_tasks::{HeavyPermit, Site, TASKFILE, UserTaskError, UserTaskList, UserTasks};

use crate::commands::attempt_user_task::AttemptServer;
use crate::commands::calling_attempt::{CallingAttempt, find_caller};
use crate::context;
use crate::error::{CliError, FAILED, REFUSED, UNREACHABLE, USAGE};
use crate::options::GlobalOptions;
use crate::output;

/// User tasks as the caller of a command gets them.
struct UserTaskCall {
    place: StateLocation,
    tasks: UserTasks,
    site: Site,
    /// None for a person.
    attempt: Option<CallingAttempt>,
}

impl UserTaskCall {
    fn open(options: &GlobalOptions) -> Result<Self, CliError> {
        let (options, attempt) = find_caller(options)?;
        let (place, settings) = context::find(&options)?;
        context::refuse_bare(&place)?;
        let mut site = Site::of_person(&place.root);
        if options.root.is_some() {
            // Called for another repository, as an agent in its worktree does: run where the caller is. An agent that has gone
            // elsewhere is still at work in its worktree, and never in the person's checkout.
            let own = attempt.as_ref().and_then(|attempt| attempt.worktree.clone());
            site.folder = match own.filter(|folder| folder.is_dir()) {
                Some(folder) => folder,
                None => StateLocation::find(Path::new("."), &LocationOptions::default())?.root,
            };
        }
        let tasks = user_tasks_here(&place, &settings);
        Ok(Self { place, tasks, site, attempt })
    }

    /// Runs `call` with the server of the calling attempt. None where there is none.
    fn with_server<T>(
        &self,
        call: impl AsyncFnOnce(AttemptServer) -> Result<T, CliError>,
    ) -> Result<Option<T>, CliError> {
        let Some(attempt) = &self.attempt else { return Ok(None) };
        super::block_on(async {
            match AttemptServer::find(&self.place, attempt).await? {
                Some(server) => call(server).await.map(Some),
                None => Ok(None),
            }
        })
    }

    /// An agent gets what is listed; a person who knows the name gets any.
    fn ready_to_run(&self, name: &str) -> Result<(), UserTaskError> {
        if self.attempt.is_some() {
            self.tasks.check_offered(&self.site, name)?;
        }
        self.tasks.ready_to_run(&self.site, name).map(drop)
    }

    /// Says so if a heavy task has to wait for others on this machine.
    async fn wait_for_permit(&self, name: &str) -> Result<HeavyPermit, CliError> {
        let taken = if let Ok(taken) = tokio::time::timeout(Duration::ZERO, self.tasks.permit_for(name)).await
        {
            taken
        } else {
            output::talk(
                "Waiting for a check or a heavy task of this machine to end ([room] heavy_at_once).",
            );
            self.tasks.permit_for(name).await
        };
        match taken {
            // Inside a fence the permits of the machine cannot be seen.
            Err(UserTaskError::Folder { .. }) if self.attempt.is_some() => Ok(HeavyPermit::none()),
            taken => Ok(taken?),
        }
    }
}

pub(crate) fn list(options: &GlobalOptions, trust: bool) -> Result<String, CliError> {
    let call = UserTaskCall::open(options)?;
    let (tasks, site) = (&call.tasks, &call.site);
    if trust {
        if call.attempt.is_some() {
            return Err(CliError::refused(
                "an agent cannot trust the Taskfile on behalf of its user",
                "run the task; Baton asks the user",
            ));
        }
        tasks.trust(site)?;
        output::talk(&format!("Trusted {TASKFILE} as it is now."));
    }
    let list = match tasks.list(site) {
        // A fence hides it from an agent.
        Err(error @ UserTaskError::NoTaskfile) if call.attempt.is_some() => {
            call.with_server(async |server| server.list().await)?.unwrap_or_else(|| none(&error))
        }
        // Not an error: there are none.
        Err(UserTaskError::NoTaskfile) if misplaced(site).is_some() => return Err(not_in_root(site)),
        Err(error @ UserTaskError::NoTaskfile) => none(&error),
        listed => listed?,
    };
    if options.json {
        return output::json(&list);
    }
    if list.tasks.is_empty() {
        return Ok(format!("No user tasks: {}\n", list.message));
    }
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rows: Vec<[String; 2]> =
        list.tasks.into_iter().map(|task| [task.name, one_line(&task.description)]).collect();
    Ok(output::table(["NAME", "DESCRIPTION"], &rows))
}

fn none(error: &UserTaskError) -> UserTaskList {
    UserTaskList { tasks: Vec::new(), message: format!("{error}; {}", error.hint()) }
}

/// Runs in this terminal with its streams. No time limit by default: the person can press Ctrl-C.
pub(crate) fn run(
    options: &GlobalOptions,
    name: &str,
    timeout: Option<u64>,
    args: &[String],
) -> Result<i32, CliError> {
    let call = UserTaskCall::open(options)?;
    let (tasks, site) = (&call.tasks, &call.site);
    let timeout = timeout.map(Duration::from_secs);
    match call.ready_to_run(name) {
        Err(error @ (UserTaskError::NoTaskfile | UserTaskError::Untrusted)) if call.attempt.is_some() => {
            let ran = call.with_server(async |server| server.run(name, args, timeout, options.json).await)?;
            return ran.ok_or_else(|| error.into());
        }
        Err(UserTaskError::Untrusted) if confirm_trust(tasks, site)? => {}
        Err(UserTaskError::NoTaskfile) if misplaced(site).is_some() => return Err(not_in_root(site)),
        ready => ready?,
    }
    if !options.json {
        let permit = super::block_on(call.wait_for_permit(name))?;
        return Ok(tasks.run_in_terminal(site, name, args, timeout, &permit));
    }
    let ran = super::block_on(async { Ok(tasks.run_words(site, name, args.to_vec(), timeout).await?) })?;
    output::line(output::json(&ran)?.trim_end());
    Ok(ran.exit_code)
}

/// A Taskfile between the current folder and the root, which somebody may take for the project's.
fn misplaced(site: &Site) -> Option<PathBuf> {
    let folder = context::current_dir().ok()?.canonicalize().ok()?;
    let above = folder.ancestors().take_while(|above| **above != site.root && above.starts_with(&site.root));
    above.map(|above| above.join(TASKFILE)).find(|path| path.is_file())
}

fn not_in_root(site: &Site) -> CliError {
    let root = site.root.display();
    let found = misplaced(site).unwrap_or_default();
    let below = found.strip_prefix(&site.root).unwrap_or(&found).display().to_string();
    let dir = below.trim_end_matches(TASKFILE).trim_end_matches('/');
    let name = Path::new(dir).file_name().map_or_else(|| "sub".into(), |name| name.to_string_lossy());
    CliError::usage(
        format!("there is no {TASKFILE} in {root}, the root of the repository; {below} is not used"),
        format!(
            "include it in {TASKFILE} of the root: includes: {{{name}: {{taskfile: ../{below}, dir: ../{dir}}}}}"
        ),
    )
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

impl From<UserTaskError> for CliError {
    fn from(error: UserTaskError) -> Self {
        let code = match &error {
            UserTaskError::NoTaskfile
            | UserTaskError::Unknown { .. }
            | UserTaskError::OpenQuote
            | UserTaskError::NulInArgs
            | UserTaskError::UnknownKeys(_)
            | UserTaskError::Unreadable(_) => USAGE,
            UserTaskError::Untrusted => REFUSED,
            UserTaskError::Folder { .. } => UNREACHABLE,
            UserTaskError::NotFenced(_) | UserTaskError::Lost(_) => FAILED,
        };
        Self {
            message: error.to_string(),
            hint: error.hint(),
            code,
            reason: Some(error.explained().code.to_owned()),
        }
    }
}
