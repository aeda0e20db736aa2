//! The commands there are, in the order the help lists them. What each takes is in the file of its noun.

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::engine::ArgValueCompleter;

use super::{
    asking, breakdowns, chat, demo, export, holds, keeping, looping, projects, recipes, shell, store, tasks,
    tokens, up, verdicts, workers,
};
use crate::completing;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// See the whole product at work, on a scratch repository with an agent that needs no model
    #[command(
        after_help = "It opens in a browser: the pages say what happens and what to click next. Where nobody clicks, it \
                      goes on by itself.\n\nExamples:\n  baton demo\n  baton demo --headless                 print the story instead\n  baton demo --folder /tmp/greeter      where to play it"
    )]
    Demo(demo::Demo),
    /// Look at this repository, and write the two files that make Baton at home in it
    #[command(
        after_help = "Examples:\n  baton init\n  baton init --force         write them again; the old ones are kept"
    )]
    Init(projects::Init),
    /// Run agents on this repository's tasks, and the server for people and programs, until Ctrl-C
    #[command(
        after_help = "Examples:\n  baton up\n  baton up --listen 127.0.0.1:0            any free port\n  BATON_SERVER_TOKEN=… baton up --listen 0.0.0.0:5678"
    )]
    Up(up::Up),
    /// Accept finished work: merge it, and call it done
    #[command(
        after_help = "Examples:\n  baton accept TASK-9a69e916\n  baton accept --all\n  baton accept --all --recycle"
    )]
    Accept(verdicts::Accept),
    /// Send a message, and follow the work it causes
    #[command(
        after_help = "The result is printed; what happens on the way is said beside it. Exit code 10: it waits for an \
                      answer, and nobody is at the terminal.\n\nExamples:\n  baton chat \"Why does the login fail \
                      on Mondays?\"\n  baton chat --session login \"Then fix it\""
    )]
    Chat(chat::Chat),
    /// Add, list and steer tasks
    #[command(
        subcommand,
        after_help = "Examples:\n  baton task add \"Fix the login\"\n  baton task list --queue provisional\n  baton task show TASK-9a69e916"
    )]
    Task(tasks::TaskCommand),
    /// Send work back with the reason
    #[command(
        after_help = "Examples:\n  baton reject TASK-9a69e916 --reason \"The test does not fail without the fix.\""
    )]
    Reject {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::tasks))]
        task: String,
        /// What is wrong; the next attempt is told
        #[arg(long)]
        reason: String,
    },
    /// Send a task that was too large to a breakdown
    #[command(
        after_help = "Examples:\n  baton recycle TASK-9a69e916\n  baton recycle TASK-9a69e916 --reason cumulative_failures"
    )]
    Recycle {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::tasks))]
        task: String,
        /// What shows it: it never came to a commit, or it came back too often
        #[arg(long, value_enum, default_value = "too_large")]
        reason: verdicts::Reason,
    },
    /// Plans for tasks that were too large
    #[command(
        subcommand,
        after_help = "Examples:\n  baton breakdown list\n  baton breakdown run TASK-9a69e916      let an agent plan it\n  baton breakdown approve TASK-9a69e916"
    )]
    Breakdown(breakdowns::BreakdownCommand),
    /// Turn a goal, written in Markdown, into a plan that waits for your approval
    #[command(after_help = "Examples:\n  baton plan GOAL.md\n  echo 'Share links by mail' | baton plan -")]
    Plan(projects::Plan),
    /// Repositories and features that tasks belong to: make, list, look at and complete them
    #[command(
        subcommand,
        after_help = "Examples:\n  baton project create \"Share links\" --feature\n  baton project show PROJ-dca27809"
    )]
    Project(projects::ProjectCommand),
    /// Board and inbox on one screen, for as long as you look
    #[command(
        after_help = "With --json, or without a terminal: the state of things as one line, and again after every change.\n\nExamples:\n  baton watch\n  baton watch --json | jq -c .ready"
    )]
    Watch,
    /// Bring in the tasks of another tool, with their text, state and dependencies
    #[command(
        after_help = "Run it again whenever you like: what was imported before is not imported twice.\n\nExamples:\n  baton import beads . --dry-run\n  baton import task-master .\n  baton import github issues.json --project PROJ-dca27809"
    )]
    Import(keeping::Import),
    /// Take everything out, or a project as a page that needs nothing else
    #[command(
        after_help = "Examples:\n  baton export > all.jsonl\n  baton export --format html --project PROJ-dca27809 -o report.html"
    )]
    Export(export::Export),
    /// Copy the store to a file, while work goes on
    #[command(after_help = "Examples:\n  baton backup nightly.db\n  baton backup \"baton-$(date +%F).db\"")]
    Backup(keeping::Backup),
    /// Put a copy of the store back
    #[command(
        after_help = "Examples:\n  baton restore nightly.db --replace\n  baton restore nightly.db --namespace a-look-back"
    )]
    Restore(keeping::Restore),
    /// What the shell offers behind Tab: real ids, recipes and commands
    #[command(
        after_help = "Examples:\n  baton completions --install\n  baton completions fish --install\n  source <(baton completions zsh)"
    )]
    Completions(shell::Completions),
    /// Manual pages
    #[command(after_help = "Examples:\n  baton man | man -l -\n  baton man --into ~/.local/share/man/man1")]
    Man(shell::Man),
    /// The inbox: every question that waits for an answer
    #[command(
        after_help = "Examples:\n  baton questions\n  baton questions --follow              and new ones as they come\n  baton questions --follow --json       one object on each line"
    )]
    Questions(asking::Questions),
    /// Answer a question
    #[command(
        after_help = "Examples:\n  baton answer Q-5eed1234 YES\n  baton answer --queue YES --task TASK-9a69e916"
    )]
    Answer(asking::Answer),
    /// The Plan → Execute → Review loop, in this terminal
    #[command(
        after_help = "Ctrl-C breaks off to the hub; nothing is lost.\n\nExamples:\n  baton loop\n  baton loop --from review --unattended escalate"
    )]
    Loop(looping::Loop),
    /// Ask the human; called by an agent, which is known by its token
    #[command(
        hide = true,
        after_help = "Examples:\n  \"$BATON_BIN\" ask \"Formal or casual?\" --option formal --option casual"
    )]
    Ask {
        /// The question, complete in itself
        question: String,
        /// An answer to offer; may be given more than once
        #[arg(long = "option", value_name = "TEXT")]
        options: Vec<String>,
        /// The attempt's token
        #[arg(long, env = "BATON_TOKEN", hide_env_values = true)]
        token: String,
    },
    /// Workflows of steps: list, look at, check, start and stop them
    #[command(
        subcommand,
        after_help = "Examples:\n  baton recipe list\n  baton recipe show implement-and-review\n  baton recipe start implement-and-review"
    )]
    Recipe(recipes::RecipeCommand),
    /// Agents that are given no work for now: a limit, a login that has expired, a budget
    #[command(subcommand, after_help = "Examples:\n  baton hold list\n  baton hold release claude")]
    Hold(holds::HoldCommand),
    /// Run agents on the tasks of a store that many machines share, and nothing else, until Ctrl-C
    #[command(
        after_help = "A first SIGTERM or Ctrl-C lets agents at work finish within --grace; a second one ends them, and their \
                      tasks go back to the queue unblamed.\n\nExamples:\n  baton worker --store postgres://baton@db/baton \
                      --namespace shop\n  baton worker --store postgres://baton@db/baton --namespace shop --agents 8 --label gpu"
    )]
    Worker(workers::Worker),
    /// The machines that run agents on this store: what each runs, and when it was last heard of
    #[command(after_help = "Examples:\n  baton workers\n  baton workers --json")]
    Workers,
    /// The store that many machines share
    #[command(subcommand, after_help = "Examples:\n  baton store init --print-sql")]
    Store(store::StoreCommand),
    /// Let other people in: viewers, responders and operators, each with a token of their own
    #[command(
        subcommand,
        after_help = "Examples:\n  baton token create ada --role responder\n  baton token list"
    )]
    Token(tokens::TokenCommand),
    /// What is installed, which agents work, what is wrong and how to mend it
    #[command(after_help = "Examples:\n  baton doctor\n  baton doctor --json")]
    Doctor,
    /// The project's own commands, from .agent/Taskfile.yml
    #[command(
        after_help = "They run with your rights. Run one: baton do NAME\n\nExamples:\n  baton tasks\n  baton tasks --trust       you have read the file"
    )]
    Tasks {
        /// You have read the file and let it run as it is; needed where the settings say `trust = "prompt"`
        #[arg(long)]
        trust: bool,
    },
    /// Run one of the project's own commands, here and now; its exit code is passed on
    #[command(after_help = "Examples:\n  baton do test\n  baton do test -- -v -race")]
    Do {
        /// Which one, as `baton tasks` names it
        #[arg(add = ArgValueCompleter::new(completing::user_tasks))]
        name: String,
        /// Seconds after which it is ended, with everything it started [default: as long as it takes]
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
        /// Arguments for it, as `{{.CLI_ARGS}}`
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Give the tools to an MCP client, on standard input and output
    #[command(
        after_help = "Hands on to the running server where there is one, else works on the store alone.\n\nExamples, for a client's settings:\n  { \"command\": \"baton\", \"args\": [\"mcp\"] }"
    )]
    Mcp {
        /// Who asks: an attempt's token; without one it is you
        #[arg(long, env = "BATON_TOKEN", hide_env_values = true)]
        token: Option<String>,
        /// Where the server is, when it is not this repository's own
        #[arg(long, value_name = "URL", env = "BATON_MCP_URL")]
        url: Option<String>,
    },
    /// Show each setting, its value, and where that came from
    #[command(
        after_help = "Flags win over BATON_* variables (BATON_MAX_AGENTS, BATON_ASKING_UNATTENDED, …), these over \
                      .agent/baton.toml, that over ~/.config/baton/config.toml, and that over the defaults.\n\nExamples:\n  \
                      baton config\n  BATON_MAX_AGENTS=2 baton config\n  baton config --json"
    )]
    Config,
    /// What an error code means, what led to it and what to do next; and the rules Baton goes by
    #[command(
        after_help = "Examples:\n  baton explain                 everything there is\n  baton explain wrong_state     \
                      a code, as the last line of an error names it\n  baton explain 10              an exit code\n  \
                      baton explain states          a topic"
    )]
    Explain {
        /// A code or a topic [default: list them]
        #[arg(add = ArgValueCompleter::new(completing::explanations))]
        what: Option<String>,
    },
    /// Follow a script instead of a model (docs/scripted-agent.md); started by Baton, not by people
    #[command(hide = true, after_help = "Examples:\n  echo 'Say hello' | baton scripted-agent script.json")]
    ScriptedAgent {
        /// The script, as JSON
        script: PathBuf,
    },
    /// End the agents of a Baton that was killed; started by Baton, not by people
    #[command(hide = true, after_help = "Examples:\n  baton agent-watchdog < /dev/null")]
    AgentWatchdog,
}
