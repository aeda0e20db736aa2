//! What every setting is for, in words. A test holds the list against the keys there are and writes
//! `docs/reference/configuration.md` from it, so a setting that is not described does not pass.

/// One setting. `NAME` stands for a name of the person's own choice, `SCOPE` for task, project or day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// `asking.unattended`
    pub key: &'static str,
    pub kind: &'static str,
    pub means: &'static str,
}

const fn about(key: &'static str, kind: &'static str, means: &'static str) -> About {
    About { key, kind, means }
}

pub const ABOUT: &[About] = &[
    about(
        "default_agent",
        "name",
        "The agent that does what no role gives to another. A known name is enough; else there is an `[agents.NAME]` for it",
    ),
    about("max_agents", "number", "Agents at work at once, in all"),
    about("max_unaccepted", "number", "With this many tasks waiting to be accepted no new one is started"),
    about(
        "max_per_project",
        "number",
        "Tasks of one project at once, over all machines, where the project has no limit of its own (`baton project limit`)",
    ),
    about("max_per_person", "number", "Tasks that one person asked for at once, over all machines"),
    about("lease_seconds", "number", "How long an attempt counts as alive without a sign of life"),
    about(
        "recycle",
        "`automatic` or `manual`",
        "Whether tasks that burned out are sent to a breakdown by themselves, or wait for `baton accept --recycle` or `baton recycle`",
    ),
    about(
        "store",
        "address",
        "A store that many machines share, as `postgres://USER@HOST/DATABASE`; without it a file in the state folder",
    ),
    about(
        "remote",
        "address",
        "Where the code of work without a project is shared: such work then happens in a clone of it, on any machine",
    ),
    about(
        "listen",
        "address",
        "Where `baton up` listens. Anywhere but on this machine alone a token is needed",
    ),
    about(
        "checks",
        "list or table",
        "Run over finished work, in the attempt's worktree; one that fails sends the task back. A list of user tasks (`[\"test\", \"lint\"]`), or a table of names with a command (`build = [\"make\", \"all\"]`) or a user task (`quick = \"test\"`)",
    ),
    about(
        "agents.NAME.kind",
        "`acp`, `claude`, `codex`, `command` or `scripted`",
        "How the agent is driven. Not needed for a known name",
    ),
    about(
        "agents.NAME.command",
        "list of texts",
        "The program and its arguments; for `scripted` the script. Not needed for a known name",
    ),
    about("agents.NAME.model", "text", "The model, for agents that can be told"),
    about("agents.NAME.max_turns", "number", "Tool calls of one attempt; the call after the last ends it"),
    about(
        "agents.NAME.env",
        "list of names",
        "Variables it may see beside the usual ones and those it is known to need",
    ),
    about("agents.NAME.timeout", "seconds", "How long one attempt may take"),
    about("agents.NAME.idle_timeout", "seconds", "How long it may be silent"),
    about("agents.NAME.max", "number", "Of this agent, at once"),
    about(
        "agents.NAME.permissions",
        "`allow`, `ask`, `deny` or a table",
        "What it may do unasked, where its role does not say. The table has `otherwise` and the lists `allow`, `ask` and `deny`, each of the beginnings of commands or of `kind:` with read, edit, delete, move, search, execute, think, fetch or other",
    ),
    about(
        "roles.NAME.agent",
        "name",
        "The agent for the role: `implement`, `review`, `breakdown`, `plan`, `execute`, or one a recipe names",
    ),
    about("roles.NAME.max", "number", "Agents of this role at once"),
    about("roles.NAME.max_turns", "number", "Instead of the agent's own"),
    about("roles.NAME.permissions", "as for agents", "Instead of the agent's own"),
    about(
        "asking.unattended",
        "`human`, `default`, `fail` or `escalate`",
        "Who answers when nobody is there: nobody; the question's own default; the work that asks is ended; a human is called and no expiry answers",
    ),
    about(
        "asking.expires_after",
        "seconds",
        "How long a question waits before its default stands, or the work that asked ends. Without it, for ever",
    ),
    about(
        "asking.patience",
        "seconds",
        "How long an agent is kept waiting for an answer before it is let go; it goes on with the answer later. 45 where nothing is set",
    ),
    about(
        "notify.command",
        "list of texts",
        "A program that gets each notice on standard input, as one JSON object",
    ),
    about(
        "notify.webhook",
        "address",
        "Where each notice is posted, as `https://HOST/PATH` or `http://HOST:PORT/PATH`",
    ),
    about(
        "worktree.copy",
        "list of paths",
        "Untracked files of your checkout, such as `.env`, copied into each worktree",
    ),
    about("worktree.setup", "name", "A user task, run in each fresh worktree before the agent starts"),
    about("worktree.submodules", "true or false", "Fetch the submodules too; it may need the network"),
    about(
        "worktree.spares",
        "number",
        "Worktrees of each repository made ahead of time, so that an agent starts at once. Each takes as much room as a checkout",
    ),
    about(
        "budgets.SCOPE.turns",
        "number",
        "Tool calls a task, a project or a day may use. Used up: a task or a project asks you, a day holds every agent until the next one (UTC)",
    ),
    about("budgets.SCOPE.tokens", "number", "The same for tokens, as far as agents tell them"),
    about("budgets.SCOPE.usd", "amount", "The same for money, as far as agents tell it"),
    about("budgets.SCOPE.minutes", "number", "The same for the time agents are at work"),
    about(
        "budgets.SCOPE.idle_turns",
        "number",
        "The same for tool calls without a new commit, change or green check",
    ),
    about("retention.logs_days", "days", "How long agents' logs are kept"),
    about("retention.logs_mb", "MiB", "How much room they may take, all together"),
    about(
        "retention.worktrees_days",
        "days",
        "How long the worktrees of finished tasks stay; what is in them is kept in git first",
    ),
    about("retention.worktrees_mb", "MiB", "How much room they may take, all together"),
    about("retention.events_days", "days", "How long the history of finished tasks is kept"),
    about(
        "user_tasks.timeout",
        "seconds",
        "How long a user task may take that an agent or a program runs. Yours take as long as they take",
    ),
    about(
        "user_tasks.trust",
        "`always` or `prompt`",
        "Whether `.agent/Taskfile.yml` runs as it is, or only after a person has said yes to it, again after every change",
    ),
    about(
        "telemetry.otlp",
        "address",
        "A collector that receives traces by OTLP over HTTP, as `http://HOST:4318` or `https://HOST`. `OTEL_EXPORTER_OTLP_ENDPOINT` sets the same with lower precedence",
    ),
    about(
        "person.name",
        "text",
        "Under which name what you do is recorded; the name you are logged in under, where nothing is set",
    ),
];
