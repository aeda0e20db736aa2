//! The command line as people type it. Every command listed here works.

pub mod demo;
pub mod edit;
pub mod export;
pub mod keeping;
pub mod projects;
pub mod shell;
pub mod store;
pub mod tokens;
pub mod workers;

use std::net::SocketAddr;
use std::path::PathBuf;

use baton_core::priority::Priority;
use baton_core::task_type::TaskType;
use baton_core::text::Label;
use baton_engine::place::PlaceOptions;
use baton_engine::store_address::StoreAddress;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use crate::completing;

/// A durable orchestrator for coding agents.
#[derive(Debug, Parser)]
#[command(
    name = "baton",
    version,
    about,
    arg_required_else_help = true,
    after_help = "Examples:\n  baton demo                          the whole product in two minutes, in a browser\n  baton init                          \
                  make yourself at home in this repository\n  baton task add \"Fix the login\"       give it work\n  baton up                            \
                  agents at work, and the page, until Ctrl-C\n\nEvery command has examples behind --help. An error names a code: baton explain CODE."
)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// The repository this is about [default: the one around the current folder]
    #[arg(long, global = true, value_name = "DIR", env = "BATON_ROOT")]
    pub root: Option<PathBuf>,
    /// Where the store, logs and worktrees are [default: .agent/state in the repository]
    #[arg(long, global = true, value_name = "DIR", env = "BATON_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Which store in that folder [default: the folder's name and a few digits]
    #[arg(long, global = true, value_name = "NAME", env = "BATON_NAMESPACE")]
    pub namespace: Option<String>,
    /// A store that many machines share, instead of a file here
    #[arg(
        long,
        global = true,
        value_name = "postgres://USER@HOST/DATABASE",
        env = "BATON_STORE",
        hide_env_values = true
    )]
    pub store: Option<StoreAddress>,
}

impl Common {
    pub fn place(&self) -> PlaceOptions {
        PlaceOptions {
            root: self.root.clone(),
            state_dir: self.state_dir.clone(),
            namespace: self.namespace.clone(),
            store: self.store.clone(),
        }
    }
}

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
    Up(Up),
    /// Accept finished work: merge it, and call it done
    #[command(
        after_help = "Examples:\n  baton accept TASK-9a69e916\n  baton accept --all\n  baton accept --all --recycle"
    )]
    Accept(Accept),
    /// Send a message, and follow the work it causes
    #[command(
        after_help = "The result is printed; what happens on the way is said beside it. Exit code 10: it waits for an \
                      answer, and nobody is at the terminal.\n\nExamples:\n  baton chat \"Why does the login fail \
                      on Mondays?\"\n  baton chat --session login \"Then fix it\""
    )]
    Chat(Chat),
    /// Add, list and steer tasks
    #[command(
        subcommand,
        after_help = "Examples:\n  baton task add \"Fix the login\"\n  baton task list --queue provisional\n  baton task show TASK-9a69e916"
    )]
    Task(TaskCommand),
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
        reason: Reason,
    },
    /// Plans for tasks that were too large
    #[command(
        subcommand,
        after_help = "Examples:\n  baton breakdown list\n  baton breakdown run TASK-9a69e916      let an agent plan it\n  baton breakdown approve TASK-9a69e916"
    )]
    Breakdown(BreakdownCommand),
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
    Questions(Questions),
    /// Answer a question
    #[command(
        after_help = "Examples:\n  baton answer Q-5eed1234 YES\n  baton answer --queue YES --task TASK-9a69e916"
    )]
    Answer(Answer),
    /// The Plan → Execute → Review loop, in this terminal
    #[command(
        after_help = "Ctrl-C breaks off to the hub; nothing is lost.\n\nExamples:\n  baton loop\n  baton loop --from review --unattended escalate"
    )]
    Loop(Loop),
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
    Recipe(RecipeCommand),
    /// Agents that are given no work for now: a limit, a login that has expired, a budget
    #[command(subcommand, after_help = "Examples:\n  baton hold list\n  baton hold release claude")]
    Hold(HoldCommand),
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
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Let other people in: viewers, responders and operators, each with a token of their own
    #[command(subcommand)]
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
}

#[derive(Debug, Args)]
pub struct Up {
    /// How many agents at once [default: what the settings say]
    #[arg(long, value_name = "N")]
    pub agents: Option<u32>,
    /// Where the server listens; port 0 picks a free one. Anywhere but on this machine alone, a token is needed
    /// [default: what the settings say, else 127.0.0.1:5678]
    #[arg(long, value_name = "ADDRESS", env = "BATON_LISTEN")]
    pub listen: Option<SocketAddr>,
    /// What clients must show [default: none on this machine alone, else a new one in the server file]
    #[arg(long, value_name = "TOKEN", env = "BATON_SERVER_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
}

#[derive(Debug, Args)]
pub struct Loop {
    /// Where to start, when no loop is under way [default: plan]
    #[arg(long, value_enum)]
    pub from: Option<LoopStart>,
    /// Answers typed ahead, one on each line, used in order before anything is read from the terminal
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Who answers when nobody does
    #[arg(long, value_enum, value_name = "POLICY")]
    pub unattended: Option<UnattendedPolicy>,
    /// The conversation the loop belongs to
    #[arg(long, default_value = "cli")]
    pub session: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoopStart {
    Plan,
    Execute,
    Review,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnattendedPolicy {
    /// The question's own default, where it has one
    Default,
    /// The work that asks is ended
    Fail,
    /// A human is called, and no expiry answers
    Escalate,
    /// Questions wait
    Human,
}

#[derive(Debug, Args)]
pub struct Chat {
    /// The message; it becomes a task
    pub text: String,
    /// The conversation it belongs to [default: the project's own]
    #[arg(long)]
    pub session: Option<String>,
    /// What kind of work it is [default: guessed from the words]
    #[arg(long = "type", value_name = "TYPE")]
    pub task_type: Option<TaskType>,
    /// The recipe it is done by [default: work]
    #[arg(long)]
    pub recipe: Option<String>,
}

#[derive(Debug, Args)]
pub struct Questions {
    /// Go on, and print new questions as they come; with --json one object on each line
    #[arg(long, conflicts_with = "cursor")]
    pub follow: bool,
    /// How many at most
    #[arg(long, default_value_t = 200)]
    pub limit: u32,
    /// Go on where the previous page ended
    #[arg(long)]
    pub cursor: Option<String>,
}

#[derive(Debug, Args)]
pub struct Answer {
    /// The question's id, or - for one `QUESTION TEXT` on each line of standard input
    #[arg(required_unless_present = "queue", conflicts_with = "queue", add = ArgValueCompleter::new(completing::questions))]
    pub question: Option<String>,
    /// The answer: one of the words offered, or any text where none are
    #[arg(conflicts_with = "queue")]
    pub text: Option<String>,
    /// Lay an answer down for a question still to come; the first it fits gets it
    #[arg(long, value_name = "TEXT")]
    pub queue: Option<String>,
    /// The conversation whose questions it is for
    #[arg(long, requires = "queue", default_value = "cli")]
    pub session: String,
    /// Only for questions of this task
    #[arg(long, requires = "queue", conflicts_with = "session")]
    pub task: Option<String>,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag a person types")]
pub struct Accept {
    /// The tasks, by id or the beginning of it
    #[arg(required_unless_present = "all", conflicts_with = "all", add = ArgValueCompleter::new(completing::tasks))]
    pub tasks: Vec<String>,
    /// Everything that waits to be accepted; tasks that burned out are only reported
    #[arg(long)]
    pub all: bool,
    /// Burned-out tasks too
    #[arg(long, conflicts_with = "recycle")]
    pub force: bool,
    /// Send burned-out tasks to a breakdown
    #[arg(long)]
    pub recycle: bool,
    /// Change nothing; show what would start
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Put a task into the queue
    #[command(
        after_help = "Examples:\n  baton task add \"Fix the login\" --description \"It fails on Mondays.\" --priority P1"
    )]
    Add {
        /// What is to be done, in a line
        title: String,
        /// What its machine must have, as `baton worker --label` says; may be given more than once
        #[arg(long = "needs", value_name = "LABEL")]
        needs: Vec<Label>,
        /// The project it belongs to
        #[arg(long, value_name = "PROJECT", add = ArgValueCompleter::new(completing::projects))]
        project: Option<String>,
        /// More of it, for the agent
        #[arg(long, default_value = "")]
        description: String,
        /// What kind of work it is
        #[arg(long = "type", value_name = "TYPE", default_value = "IMPLEMENTATION")]
        task_type: TaskType,
        /// How urgent it is: P0 first, P3 last
        #[arg(long, default_value = "P2")]
        priority: Priority,
        /// A task it has to wait for; may be given more than once
        #[arg(long = "after", value_name = "TASK")]
        depends_on: Vec<String>,
        /// The conversation it belongs to
        /// [default: cli, or the project's own]
        #[arg(long)]
        session: Option<String>,
        /// The recipe it is done by [default: work]
        #[arg(long)]
        recipe: Option<String>,
    },
    /// List tasks, oldest first
    #[command(
        after_help = "Examples:\n  baton task list\n  baton task list --queue done --limit 10\n  baton task list --json"
    )]
    List {
        /// Only this queue: incoming, claimed, provisional, done, …
        #[arg(long)]
        queue: Option<String>,
        /// How many at most
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// Go on where the previous page ended
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Show everything about one task
    #[command(
        after_help = "Examples:\n  baton task show TASK-9a69e916\n  baton task show 9a69            the beginning is enough"
    )]
    Show {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::tasks))]
        task: String,
    },
    /// Change what a task says, in your editor or by flags; nobody may be at work on it
    #[command(
        after_help = "What you wrote is never lost: where it cannot be used, it stays in a file that is named, and the \
                      next edit goes on with it.\n\nExamples:\n  baton task edit TASK-9a69e916\n  baton task edit \
                      TASK-9a69e916 --priority P0\n  baton task edit TASK-9a69e916 --description - < goal.md"
    )]
    Edit(edit::Edit),
    /// What could be started now, in the order it would be
    #[command(after_help = "Examples:\n  baton task ready\n  baton task ready --limit 1 --json")]
    Ready {
        /// How many at most
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Answer the question a task waits on
    #[command(after_help = "Examples:\n  baton task reply TASK-9a69e916 \"Use the second one.\"")]
    Reply {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::tasks))]
        task: String,
        /// The answer
        text: String,
    },
    /// Give a task up; what it wrote is kept
    #[command(after_help = "Examples:\n  baton task cancel TASK-9a69e916 --reason \"Not needed any more\"")]
    Cancel {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::tasks))]
        task: String,
        /// Why; it is kept in the history
        #[arg(long)]
        reason: Option<String>,
    },
    /// Try a failed task again
    #[command(after_help = "Examples:\n  baton task retry TASK-9a69e916")]
    Retry {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::tasks))]
        task: String,
    },
    /// What the agent of a task's last attempt wrote
    #[command(
        after_help = "Examples:\n  baton task log TASK-9a69e916\n  baton task log TASK-9a69e916 | tail"
    )]
    Log {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::tasks))]
        task: String,
    },
    /// What a task changed
    #[command(
        after_help = "Examples:\n  baton task diff TASK-9a69e916\n  baton task diff TASK-9a69e916 | git apply --stat"
    )]
    Diff {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::tasks))]
        task: String,
    },
    /// Bring back everything an attempt had in its worktree
    #[command(after_help = "Examples:\n  baton task restore ATT-0123456789abcdef ./found")]
    Restore {
        /// The attempt, as `baton task show --json` names it
        attempt: String,
        /// A folder that does not exist yet
        into: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub enum HoldCommand {
    /// List what is held, why, and until when
    #[command(after_help = "Examples:\n  baton hold list")]
    List,
    /// Give the agent work again
    #[command(after_help = "Examples:\n  baton hold release claude")]
    Release {
        /// The agent, as the settings name it
        agent: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum RecipeCommand {
    /// List the recipes there are
    #[command(after_help = "Examples:\n  baton recipe list\n  baton recipe list --json")]
    List,
    /// Draw a recipe: its steps, what may be reported, and where that leads
    #[command(
        after_help = "Examples:\n  baton recipe show implement-and-review\n  baton recipe show work --mermaid"
    )]
    Show {
        /// The recipe, as `baton recipe list` names it
        #[arg(add = ArgValueCompleter::new(completing::recipes))]
        recipe: String,
        /// As a Mermaid state diagram
        #[arg(long)]
        mermaid: bool,
    },
    /// Look for faults; every one is named with file, line and column
    #[command(after_help = "Examples:\n  baton recipe check\n  baton recipe check .agent/recipes/tidy.yml")]
    Check {
        /// Recipe files [default: all in .agent/recipes]
        files: Vec<PathBuf>,
    },
    /// Start a recipe on a session
    #[command(
        after_help = "Examples:\n  baton recipe start document-design --message \"Sharing links that expire\""
    )]
    Start {
        /// The recipe, as `baton recipe list` names it
        #[arg(add = ArgValueCompleter::new(completing::recipes))]
        recipe: String,
        /// The conversation it runs on; one recipe at a time
        #[arg(long, default_value = "cli")]
        session: String,
        /// What it is to work on
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
    },
    /// Say something to the recipe that runs on a session; its agent hears it before it goes on
    #[command(after_help = "Examples:\n  baton recipe say \"Leave the public names as they are\"")]
    Say {
        /// What its agent shall hear
        text: String,
        /// The conversation it runs on
        #[arg(long, default_value = "cli")]
        session: String,
    },
    /// Stop the recipe that runs on a session, and its agent; work that is there is kept
    #[command(after_help = "Examples:\n  baton recipe exit\n  baton recipe exit --session login")]
    Exit {
        /// The conversation it runs on
        #[arg(long, default_value = "cli")]
        session: String,
    },
    /// Print the JSON Schema of recipe files, for editors
    #[command(after_help = "Examples:\n  baton recipe schema > .agent/recipe.schema.json")]
    Schema,
}

#[derive(Debug, Subcommand)]
pub enum BreakdownCommand {
    /// List the tasks that are to be broken down
    #[command(after_help = "Examples:\n  baton breakdown list")]
    List,
    /// Show a breakdown and its plan
    #[command(after_help = "Examples:\n  baton breakdown show TASK-9a69e916")]
    Show {
        /// The task, by id or the beginning of it
        #[arg(add = ArgValueCompleter::new(completing::tasks))]
        task: String,
    },
    /// Let an agent plan it
    #[command(after_help = "Examples:\n  baton breakdown run TASK-9a69e916")]
    Run {
        /// The task, by id or the beginning of it
        task: String,
    },
    /// Hand in a plan of your own: in your editor, or as YAML or JSON from a file
    #[command(
        after_help = "Examples:\n  baton breakdown edit TASK-9a69e916\n  echo '{\"items\": [{\"title\": \"First part\"}, {\"title\": \"Second part\", \"depends_on\": [1]}]}' | baton breakdown edit TASK-9a69e916 -"
    )]
    Edit {
        /// The task, by id or the beginning of it
        task: String,
        /// The plan, or - for standard input [default: opened in $VISUAL or $EDITOR]
        file: Option<PathBuf>,
    },
    /// Make the plan real: its subtasks take the place of the task
    #[command(after_help = "Examples:\n  baton breakdown approve TASK-9a69e916")]
    Approve {
        /// The task, by id or the beginning of it
        task: String,
    },
    /// Send the plan back with the reason
    #[command(
        after_help = "Examples:\n  baton breakdown reject TASK-9a69e916 --reason \"The first two belong together.\""
    )]
    Reject {
        /// The task, by id or the beginning of it
        task: String,
        /// What is wrong with it; whoever plans again is told
        #[arg(long)]
        reason: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Reason {
    TooLarge,
    CumulativeFailures,
}
