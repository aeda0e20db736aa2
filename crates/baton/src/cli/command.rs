//! All commands, in the order the help lists them. Larger argument lists have files of their own.

use std::path::PathBuf;

use baton_core::people::toolset::ClientPowers;
use clap::{Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;
use crate::cli::{
    agents, breakdowns, chat, demo, export, holds, landing, loops, projects, questions, recipes, routines,
    shell, status, steering, store, tasks, tokens, transfer, up, verdicts, workers,
};

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Tour the product on a scratch repository, with an agent that needs no model
    #[command(
        after_help = "Opens in your browser; the pages explain what happens and what to click next. If you do nothing, \
                      the demo continues by itself.\n\nExamples:\n  baton demo\n  baton demo --headless                 print the tour to the terminal\n  baton demo --folder /tmp/greeter      run it in this directory"
    )]
    Demo(demo::DemoArgs),
    /// Set up this repository: write .agent/baton.toml and .agent/Taskfile.yml
    #[command(
        after_help = "Examples:\n  baton init\n  baton init --force         overwrite them; the old files are kept"
    )]
    Init(projects::InitArgs),
    /// Run agents on this repository's tasks, and the server with the web UI, until Ctrl-C
    #[command(
        after_help = "Examples:\n  baton up\n  baton up --listen 127.0.0.1:0            any free port\n  BATON_SERVER_TOKEN=… baton up --listen 0.0.0.0:5678"
    )]
    Up(up::UpArgs),
    /// Accept finished work: merge it and mark the task done
    #[command(
        after_help = "Examples:\n  baton accept TASK-9a69e916\n  baton accept --all\n  baton accept --all --recycle"
    )]
    Accept(verdicts::AcceptArgs),
    /// Send a message and follow the work until it ends
    #[command(
        after_help = "The result goes to standard output, progress to standard error. Exit code 10: an agent asked a \
                      question, and there is no terminal to answer it.\n\nExamples:\n  baton chat \"Why does the login fail \
                      on Mondays?\"\n  baton chat --session login \"Then fix it\""
    )]
    Chat(chat::ChatArgs),
    /// Say something to the agent of a task
    #[command(
        after_help = "An agent at work reads it at its next pause, in the same session; one that cannot be reached at work reads it when \
                      its run ends. Without an agent at work, the message is part of the next attempt's prompt.\n\nExamples:\n  \
                      baton say TASK-9a69e916 \"Use the existing date helper.\"\n  baton say TASK-9a69e916                  what was said so far"
    )]
    Say {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// The message; - reads it from standard input [default: list the messages]
        text: Option<String>,
    },
    /// Take a task over from its agent and work in its folder
    #[command(
        after_help = "The agent ends when no tool of it runs, and no other one starts until you hand the task back. Nothing is lost if \
                      you close the terminal.\n\nExamples:\n  baton take TASK-9a69e916\n  baton take TASK-9a69e916 --agent        the agent's own \
                      terminal, on its session\n  cd \"$(baton take TASK-9a69e916 --print)\""
    )]
    Take(steering::TakeArgs),
    /// Hand a task back that you took over
    #[command(
        after_help = "Examples:\n  baton give TASK-9a69e916                its agent goes on where you stopped\n  baton give TASK-9a69e916 \
                      --done         it is finished: check it and have it reviewed"
    )]
    Give(steering::GiveArgs),
    /// Stop the agent of a task; the task is held until you release it
    #[command(after_help = "Examples:\n  baton stop TASK-9a69e916\n  baton stop --all")]
    Stop(status::StopArgs),
    /// Show what runs, what waits for you, what today cost, and what is wrong
    #[command(after_help = "Examples:\n  baton status\n  baton status --json")]
    Status,
    /// Show what the work of agents cost: today, by project, agent and task
    #[command(
        after_help = "Examples:\n  baton cost\n  baton cost --since 7d --by agent\n  baton cost --since 2026-11-01 --json"
    )]
    Cost(status::CostArgs),
    /// Open the page of Baton, or of a task, in your browser, and print its address
    #[command(after_help = "Examples:\n  baton open\n  baton open TASK-9a69e916 --print")]
    Open(status::OpenArgs),
    /// Show the changes of a task, and accept them or request others
    #[command(
        after_help = "Examples:\n  baton review TASK-9a69e916\n  baton review TASK-9a69e916 --request-changes \"Add a test.\"\n  \
                      baton review TASK-9a69e916 --accept"
    )]
    Review(status::ReviewArgs),
    /// Add, list, show, edit and control tasks
    #[command(
        subcommand,
        after_help = "Examples:\n  baton task add \"Fix the login\"\n  baton task list --queue provisional\n  baton task show TASK-9a69e916"
    )]
    Task(tasks::TaskCommand),
    /// Reject finished work with a reason; the task is tried again
    #[command(
        after_help = "Examples:\n  baton reject TASK-9a69e916 --reason \"The test does not fail without the fix.\""
    )]
    Reject {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// What is wrong; the next attempt sees this [default: opens your editor]
        #[arg(long)]
        reason: Option<String>,
    },
    /// Replace a task that is too large with a breakdown into smaller tasks
    #[command(
        after_help = "Examples:\n  baton recycle TASK-9a69e916\n  baton recycle TASK-9a69e916 --reason cumulative_failures"
    )]
    Recycle {
        /// Task id, or a unique prefix of it
        #[arg(add = ArgValueCompleter::new(completion::tasks))]
        task: String,
        /// Why: it ran out of turns without a commit, or it failed too often
        #[arg(long, value_enum, default_value = "too_large")]
        reason: verdicts::RecycleReasonArg,
    },
    /// Plan tasks that are too large as smaller ones
    #[command(
        subcommand,
        after_help = "Examples:\n  baton breakdown list\n  baton breakdown run TASK-9a69e916      have an agent write the plan\n  baton breakdown approve TASK-9a69e916"
    )]
    Breakdown(breakdowns::BreakdownCommand),
    /// Turn a goal, written in Markdown, into a plan for your approval
    #[command(after_help = "Examples:\n  baton plan GOAL.md\n  echo 'Share links by mail' | baton plan -")]
    Plan(projects::PlanArgs),
    /// Create, list, show and complete projects
    #[command(
        subcommand,
        after_help = "Examples:\n  baton project create \"Share links\" --feature\n  baton project show PROJ-dca27809"
    )]
    Project(projects::ProjectCommand),
    /// Show what waits for you, what runs and what comes next, and decide it by keys
    #[command(
        after_help = "? shows the keys. With --json or without a terminal, prints one JSON line now and after every change.\n\nExamples:\n  baton watch\n  baton watch --json | jq -c .ready"
    )]
    Watch,
    /// Import tasks from another tool, with text, state and dependencies
    #[command(
        after_help = "Safe to repeat: tasks that were imported before are skipped.\n\nExamples:\n  baton import beads . --dry-run\n  baton import task-master .\n  baton import github issues.json --project PROJ-dca27809"
    )]
    Import(transfer::ImportArgs),
    /// Export everything as JSON lines, or a project as a self-contained HTML report
    #[command(
        after_help = "Examples:\n  baton export > all.jsonl\n  baton export --format html --project PROJ-dca27809 -o report.html"
    )]
    Export(export::ExportArgs),
    /// Copy the store to a file; agents may keep running
    #[command(after_help = "Examples:\n  baton backup nightly.db\n  baton backup \"baton-$(date +%F).db\"")]
    Backup(transfer::BackupArgs),
    /// Restore the store from a backup
    #[command(
        after_help = "Examples:\n  baton restore nightly.db --replace\n  baton restore nightly.db --namespace archive"
    )]
    Restore(transfer::RestoreArgs),
    /// Shell completions, including task ids, recipes and user tasks
    #[command(
        after_help = "Examples:\n  baton completions --install\n  baton completions fish --install\n  source <(baton completions zsh)"
    )]
    Completions(shell::CompletionsArgs),
    /// Print or install manual pages
    #[command(after_help = "Examples:\n  baton man | man -l -\n  baton man --into ~/.local/share/man/man1")]
    Man(shell::ManArgs),
    /// List the questions that wait for an answer, and what else stands still until you act
    #[command(
        after_help = "Examples:\n  baton questions\n  baton questions --follow              keep running and print new ones\n  baton questions --follow --json       one JSON object per line"
    )]
    Questions(questions::QuestionsArgs),
    /// Answer a question
    #[command(
        after_help = "Examples:\n  baton answer Q-5eed1234 YES\n  baton answer --queue YES --task TASK-9a69e916"
    )]
    Answer(questions::AnswerArgs),
    /// Run the Plan → Execute → Review loop in this terminal
    #[command(
        after_help = "Ctrl-C stops the loop and returns it to the hub; no work is lost.\n\nExamples:\n  baton loop\n  baton loop \"Add sharing links that expire\"\n  baton loop --from review --unattended escalate"
    )]
    Loop(loops::LoopArgs),
    /// Ask the user a question; called by agents, which identify themselves by token
    #[command(
        hide = true,
        after_help = "Examples:\n  \"$BATON_BIN\" ask \"Formal or casual?\" --option formal --option casual"
    )]
    Ask {
        /// The question, understandable without other context
        question: String,
        /// An answer to offer; repeatable
        #[arg(long = "option", value_name = "TEXT")]
        options: Vec<String>,
        /// The attempt's token
        #[arg(long, env = "BATON_TOKEN", hide_env_values = true)]
        token: String,
    },
    /// List, show, check, start and stop recipes (workflows of steps)
    #[command(
        subcommand,
        after_help = "Examples:\n  baton recipe list\n  baton recipe show implement-and-review\n  baton recipe start implement-and-review"
    )]
    Recipe(recipes::RecipeCommand),
    /// Show accepted work that waits to land: its lanes, who waits for whom, and what the checks said
    #[command(
        after_help = "Examples:\n  baton landing\n  baton landing --follow              print the output of the checks as it comes\n  baton --json landing"
    )]
    Landing(landing::LandingArgs),
    /// List the accounts that agents work on: whether they take work, why not and until when, and what was used today
    #[command(after_help = "Examples:\n  baton accounts\n  baton --json accounts")]
    Accounts,
    /// List the agents Baton knows by name, and learn more from a registry
    #[command(subcommand, after_help = "Examples:\n  baton agents list\n  baton agents update registry.json")]
    Agents(agents::AgentsCommand),
    /// List and release holds: agents that get no work because of a limit, an expired login or a budget
    #[command(subcommand, after_help = "Examples:\n  baton hold list\n  baton hold release claude")]
    Hold(holds::HoldCommand),
    /// Add, list and run routines: work that starts by time or by event
    #[command(
        subcommand,
        after_help = "Examples:\n  baton routine add \"Update dependencies\" --every \"Mon 06:00\"\n  baton routine list"
    )]
    Routine(routines::RoutineCommand),
    /// Run agents for a shared store, without a web UI, until Ctrl-C
    #[command(
        after_help = "The first SIGTERM or Ctrl-C lets running agents finish within --grace; the second one stops them, and \
                      their tasks return to the queue without counting as failures.\n\nExamples:\n  baton worker --store postgres://baton@db/baton \
                      --namespace shop\n  baton worker --store postgres://baton@db/baton --namespace shop --agents 8 --label gpu"
    )]
    Worker(workers::WorkerArgs),
    /// List the machines that run agents on this store, with their tasks and last heartbeat
    #[command(after_help = "Examples:\n  baton workers\n  baton workers --json")]
    Workers,
    /// Set up the shared store
    #[command(subcommand, after_help = "Examples:\n  baton store init --print-sql")]
    Store(store::StoreCommand),
    /// Create, list and revoke access tokens for other people
    #[command(
        subcommand,
        after_help = "Examples:\n  baton token create ada --role responder\n  baton token list"
    )]
    Token(tokens::TokenCommand),
    /// Check git, settings, store and agents, and say how to fix what is broken
    #[command(after_help = "Examples:\n  baton doctor\n  baton doctor --json")]
    Doctor,
    /// Let the settings that came with this clone start programs and open the fence
    #[command(
        after_help = "Settings that stand as they were committed in a repository with a remote start nothing until you say so, \
                      once for each version. On a build machine: BATON_TRUST=always.\n\nExamples:\n  baton trust"
    )]
    Trust,
    /// List the project's user tasks, from .agent/Taskfile.yml
    #[command(
        after_help = "User tasks run with your permissions. Run one: baton do NAME\n\nExamples:\n  baton tasks\n  baton tasks --trust       allow the file as it is now"
    )]
    Tasks {
        /// Trust the file as it is now; needed where the settings say `trust = "prompt"`
        #[arg(long)]
        trust: bool,
    },
    /// Run a user task in this terminal and exit with its exit code
    #[command(after_help = "Examples:\n  baton do test\n  baton do test -- -v -race")]
    Do {
        /// Name of the user task, as listed by `baton tasks`
        #[arg(add = ArgValueCompleter::new(completion::user_tasks))]
        name: String,
        /// Stop it, and everything it started, after this many seconds [default: no limit]
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
        /// Arguments, passed on as `{{.CLI_ARGS}}`
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Serve the MCP tools on standard input and output
    #[command(
        after_help = "Forwards calls to the running server if there is one, else works on the store directly.\n\nExamples, for an MCP client's settings:\n  { \"command\": \"baton\", \"args\": [\"mcp\"] }\n  \
                      { \"command\": \"baton\", \"args\": [\"mcp\", \"--as\", \"person\", \"--allow\", \"answer,accept\"] }"
    )]
    Mcp {
        /// Act as you, whatever token is set
        #[arg(long = "as", value_name = "WHO")]
        caller: Option<McpCaller>,
        /// What your client may decide in your name, beyond reading, adding and chatting: answer, accept
        #[arg(long, value_name = "WHAT", default_value = "", hide_default_value = true)]
        allow: ClientPowers,
        /// The attempt's token [default: act as you]
        #[arg(long, env = "BATON_TOKEN", hide_env_values = true)]
        token: Option<String>,
        /// URL of the server [default: this repository's running server]
        #[arg(long, value_name = "URL", env = "BATON_MCP_URL")]
        url: Option<String>,
    },
    /// Show every setting with its value and where it comes from
    #[command(
        after_help = "Precedence, highest first: flags, BATON_* variables (BATON_MAX_AGENTS, BATON_ASKING_UNATTENDED, …), \
                      .agent/baton.toml, ~/.config/baton/config.toml, defaults.\n\nExamples:\n  \
                      baton config\n  BATON_MAX_AGENTS=2 baton config\n  baton config --json"
    )]
    Config,
    /// Explain an error code, an exit code, or a topic such as task states
    #[command(
        after_help = "Examples:\n  baton explain                 list everything\n  baton explain wrong_state     \
                      the code in the last line of an error\n  baton explain 10              an exit code\n  \
                      baton explain states          a topic"
    )]
    Explain {
        /// A code or a topic [default: list all]
        #[arg(add = ArgValueCompleter::new(completion::explanations))]
        what: Option<String>,
    },
    /// An agent that follows a script instead of a model (docs/scripted-agent.md); started by Baton
    #[command(hide = true, after_help = "Examples:\n  echo 'Say hello' | baton scripted-agent script.json")]
    ScriptedAgent {
        /// The script, as JSON
        script: PathBuf,
    },
    /// End the agents of a Baton that was killed; started by Baton
    #[command(hide = true, after_help = "Examples:\n  baton agent-watchdog < /dev/null")]
    AgentWatchdog,
}

/// As whom a client of the tools acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpCaller {
    Person,
}
