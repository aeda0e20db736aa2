//! The commands: one module each, from parsed arguments to the text to print.
//!
//! Argument definitions are in `cli`; printing is `output`'s job.

mod accept;
mod accounts;
mod agents;
mod attempt_user_task;
mod backup;
mod breakdown;
mod calling_attempt;
mod chat;
mod config;
mod cost;
mod demo;
mod doctor;
mod export;
mod hold;
mod import;
mod init;
pub(crate) mod landing;
mod landing_follow;
mod lanes;
mod loop_command;
mod mcp;
mod narration;
mod open;
mod project;
mod question;
mod recipe;
mod review;
mod routine;
mod say;
pub(crate) mod shell;
mod status;
mod stop;
mod store;
mod take;
mod task;
mod token;
mod trust;
mod up;
pub(crate) mod user_task;
mod verdict;
mod watch;
mod worker;

use std::process::ExitCode;
use std::time::Duration;

use tokio::runtime::Builder;

use crate::cli::{Cli, CliCommand};
use crate::context::CliContext;
use crate::context::api::Api;
use crate::error::CliError;
use crate::explain;
use crate::options::GlobalOptions;
use crate::output::{self, Look, PagerUse};

/// Threads of the commands that run agents. Agents and git are processes of their own; these threads only wait for them.
const WORKER_THREADS: usize = 2;

/// How long threads that are still at work are waited for at the end.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// Runs a command and prints its result.
///
/// One exhaustive match: a command without an arm of its own does not compile.
pub(crate) fn run(arguments: Cli) -> Result<ExitCode, CliError> {
    let Cli { options, command } = arguments;
    let options = &options;
    let (look, paging) = if options.json { (Look::Raw, PagerUse::Never) } else { reading(&command) };
    let printed = match command {
        // These own their streams and their exit code.
        CliCommand::AgentWatchdog => return Ok(baton_engine::watchdog::program()),
        CliCommand::ScriptedAgent { script } => return Ok(baton_engine::scripted::program(&script)),
        CliCommand::Do { name, timeout, args } => {
            return user_task::run(options, &name, timeout, &args).map(output::exit);
        }

        // These need neither a server nor a store.
        CliCommand::Explain { what } => explain::run(what.as_deref(), options.json),
        CliCommand::Config => config::show(options),
        CliCommand::Agents(command) => agents::run(options, &command),
        CliCommand::Init(arguments) => init::run(options, &arguments),
        CliCommand::Completions(arguments) => shell::completions(&arguments),
        CliCommand::Man(arguments) => shell::man(&arguments),
        CliCommand::Tasks { trust } => user_task::list(options, trust),

        // These run agents or serve requests.
        CliCommand::Demo(arguments) => block_on_pool(demo::run(arguments)),
        CliCommand::Up(arguments) => {
            block_on_pool(with_context(options, async |context| up::run(context, arguments).await))
        }
        CliCommand::Worker(arguments) => block_on_pool(async {
            let options = worker::with_namespace(options).await?;
            with_context(&options, async |context| worker::run(context, arguments).await).await
        }),
        CliCommand::Loop(arguments) => block_on_pool(with_context(options, async |context| {
            Box::pin(loop_command::run(context, arguments)).await
        })),
        CliCommand::Chat(arguments) => {
            block_on_pool(with_api(options, async |api| chat::run(api, arguments).await))
        }
        // An agent is given the server's URL: its worktree is not the repository the server works on.
        CliCommand::Mcp { token, url, caller, allow } => {
            let client = mcp::McpClient::new(token, caller, allow)?;
            match url {
                Some(url) => block_on_pool(mcp::proxy(&url, client)),
                None => block_on_pool(mcp::run(options, client)),
            }
        }

        // These open what they need themselves.
        CliCommand::Doctor => block_on(doctor::run(options)),
        CliCommand::Trust => block_on(trust::run(options)),
        CliCommand::Watch => block_on(watch::run(options)),
        CliCommand::Store(command) => block_on(store::run(options, command)),
        CliCommand::Backup(arguments) => block_on(backup::backup(options, &arguments)),
        CliCommand::Restore(arguments) => block_on(backup::restore(options, &arguments)),
        CliCommand::Recipe(command) => block_on(recipe::run(options, command)),
        CliCommand::Ask { question, options: choices, token } => {
            block_on(question::ask(options, &question, &choices, &token))
        }
        CliCommand::Questions(arguments) if arguments.follow => {
            block_on(question::follow(options, arguments.limit))
        }
        CliCommand::Landing(arguments) if arguments.follow => block_on(landing_follow::follow(options)),

        // These call the API.
        CliCommand::Questions(arguments) => {
            call_api(options, async |api| question::list(api, &arguments).await)
        }
        CliCommand::Task(command) => call_api(options, async |api| task::run(api, command).await),
        CliCommand::Say { task, text } => call_api(options, async |api| say::run(api, &task, text).await),
        CliCommand::Status => call_api(options, async |api| status::run(api).await),
        CliCommand::Cost(arguments) => call_api(options, async |api| cost::run(api, &arguments).await),
        CliCommand::Open(arguments) => call_api(options, async |api| open::run(api, &arguments).await),
        CliCommand::Stop(arguments) => call_api(options, async |api| stop::run(api, &arguments).await),
        CliCommand::Review(arguments) => call_api(options, async |api| review::run(api, arguments).await),
        CliCommand::Take(arguments) => call_api(options, async |api| take::take(api, &arguments).await),
        CliCommand::Give(arguments) => call_api(options, async |api| take::give(api, &arguments).await),
        CliCommand::Accept(arguments) => call_api(options, async |api| accept::run(api, arguments).await),
        CliCommand::Reject { task, reason } => {
            call_api(options, async |api| verdict::reject_with(api, &task, reason).await)
        }
        CliCommand::Recycle { task, reason } => {
            call_api(options, async |api| verdict::recycle(api, &task, reason).await)
        }
        CliCommand::Breakdown(command) => call_api(options, async |api| breakdown::run(api, command).await),
        CliCommand::Answer(arguments) => {
            call_api(options, async |api| question::answer(api, arguments).await)
        }
        CliCommand::Accounts => call_api(options, async |api| accounts::run(api).await),
        CliCommand::Hold(command) => call_api(options, async |api| hold::run(api, command).await),
        CliCommand::Routine(command) => call_api(options, async |api| routine::run(api, command).await),
        CliCommand::Landing(_) => call_api(options, async |api| lanes::list(api).await),
        CliCommand::Workers => call_api(options, async |api| worker::list(api).await),
        CliCommand::Token(command) => call_api(options, async |api| token::run(api, command).await),
        CliCommand::Plan(arguments) => call_api(options, async |api| project::plan(api, arguments).await),
        CliCommand::Project(command) => call_api(options, async |api| project::run(api, command).await),
        CliCommand::Import(arguments) => call_api(options, async |api| import::run(api, arguments).await),
        CliCommand::Export(arguments) => call_api(options, async |api| export::run(api, arguments).await),
    };
    printed.map(|text| output::data(&text, look, paging))
}

/// How what a command prints is read.
fn reading(command: &CliCommand) -> (Look, PagerUse) {
    use crate::cli::tasks::TaskCommand;
    match command {
        CliCommand::Task(TaskCommand::Diff { .. }) => (Look::Diff, PagerUse::WhereLong),
        CliCommand::Task(TaskCommand::Log { follow: false, .. }) => (Look::Raw, PagerUse::WhereLong),
        CliCommand::Review(_) => (Look::Diff, PagerUse::Never),
        CliCommand::Task(TaskCommand::List { .. } | TaskCommand::Show { .. })
        | CliCommand::Explain { .. }
        | CliCommand::Config => (Look::Text, PagerUse::WhereLong),
        // Made for programs, or for files.
        CliCommand::Completions(_) | CliCommand::Man(_) | CliCommand::Export(_) => {
            (Look::Raw, PagerUse::Never)
        }
        _ => (Look::Text, PagerUse::Never),
    }
}

/// On this thread alone: a command that sends one request and ends need not start a pool.
fn block_on<T>(command: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    run_on(&mut Builder::new_current_thread(), command)
}

fn block_on_pool(command: impl Future<Output = Result<String, CliError>>) -> Result<String, CliError> {
    baton_engine::cgroup::prepare();
    run_on(Builder::new_multi_thread().worker_threads(WORKER_THREADS), command)
}

fn run_on<T>(
    builder: &mut Builder,
    command: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    let runtime = builder.enable_all().build().map_err(|error| {
        CliError::failed(
            format!("cannot start the async runtime: {error}"),
            "check this session's limits on threads and open files: ulimit -a",
        )
    })?;
    // On the heap: the state of a command that runs all day is too large for the stack.
    let done = runtime.block_on(Box::pin(command));
    // A thread that deletes a large folder ends with the process; what it leaves is deleted after the next start.
    runtime.shutdown_timeout(LAST_THREADS);
    done
}

fn call_api(
    options: &GlobalOptions,
    command: impl AsyncFnOnce(&Api) -> Result<String, CliError>,
) -> Result<String, CliError> {
    block_on(with_api(options, command))
}

async fn with_api(
    options: &GlobalOptions,
    command: impl AsyncFnOnce(&Api) -> Result<String, CliError>,
) -> Result<String, CliError> {
    let api = Api::open(options).await?;
    let printed = Box::pin(command(&api)).await;
    let closed = api.close().await;
    printed.and_then(|text| closed.map(|()| text))
}

async fn with_context(
    options: &GlobalOptions,
    command: impl AsyncFnOnce(&CliContext) -> Result<String, CliError>,
) -> Result<String, CliError> {
    let context = CliContext::open(options).await?;
    let printed = Box::pin(command(&context)).await;
    let closed = context.close().await;
    printed.and_then(|text| closed.map(|()| text))
}
