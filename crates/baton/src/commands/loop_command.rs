//! `baton loop`: starts or continues the Plan → Execute → Review loop in a terminal.
//!
//! Prints phases and questions, and reads answers. The loop itself is in the store: Ctrl-C returns it to the hub; any
//! other end of this command leaves it as it is.

use baton_engine::asking::Answers;
use baton_engine::attempt::error::AttemptError;
use baton_engine::base::error::EngineError;
use baton_engine::runs::loops;
use baton_engine::runs::loops::Loops;
use std::fs::File;

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{QuestionId, SessionId};
use baton_core::base::text::{NonBlank, Role};
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::phase::{Phase, PhaseStart};
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::records::event::EventBody;
use baton_engine::asking::AutoResponder;
use baton_engine::dispatch::not_started::Scheduling;
use baton_engine::reports::view::task_view;
use baton_engine::services::engine::Engine;
use baton_engine::settings::Unattended;
use serde_json::json;
use tokio::sync::watch;

use crate::cli::loops::{LoopArgs, LoopStartArg, UnattendedArg};
use crate::commands::question::{render_prompt, typed_answer};
use crate::commands::up::lock_engine;
use crate::context::CliContext;
use crate::context::agent_endpoint::AgentEndpoint;
use crate::error::{CliError, REFUSED, UNANSWERED, USAGE};
use crate::output;
use crate::terminal::answers::AnswerInput;
use crate::terminal::signals;

/// The exit code of a process ended by SIGINT, as shells report it.
const INTERRUPTED: u8 = 130;
/// The session of a loop that nobody named.
const DEFAULT_SESSION: &str = "cli";
/// Most pending questions to search for the loop's session.
const PENDING_MAX: u32 = 1_000;

pub(crate) async fn run(context: &CliContext, args: LoopArgs) -> Result<String, CliError> {
    let session = CliContext::parse_session_id(&args.session)?;
    let input = AnswerInput::open(args.answers.as_deref())?;
    let policy = args.unattended.map(unattended);
    check_agents(context)?;
    let (_lock, engine, endpoint) = own_engine(context, policy.unwrap_or_default()).await?;
    let seq = context.tasks.last_event().await?;
    let goal = args.goal.as_deref().map(|goal| CliContext::non_blank(goal, "the goal")).transpose()?;
    begin(context, &session, args.from, goal.as_ref()).await?;
    let (stop, shutdown) = watch::channel(false);
    let working = async {
        match &engine {
            Some(engine) => Box::pin(engine.run(shutdown)).await.map_err(CliError::from),
            // Another Baton runs the agents here; this one only asks and prints.
            None => std::future::pending().await,
        }
    };
    let scheduling = match &engine {
        Some(engine) => engine.workspace.scheduling(),
        None => context.workspace(context.settings()?).scheduling(),
    };
    let mut session_loop = LoopSession {
        context,
        session: &session,
        policy: policy.unwrap_or_default(),
        input,
        shown: None,
        seq,
        exit: None,
        scheduling,
        told: None,
    };
    tokio::pin!(working);
    let ended = tokio::select! {
        ended = session_loop.run_until_hub() => ended,
        worked = &mut working => return worked.map(|()| String::new()),
    };
    // Stop the agents first.
    let _ = stop.send(true);
    if engine.is_some() {
        working.await?;
    }
    if let Some(endpoint) = endpoint {
        endpoint.close().await;
    }
    let ended = ended?;
    session_loop.check_exit()?;
    summary(context, &ended)
}

/// Without agents the loop would wait forever.
fn check_agents(context: &CliContext) -> Result<(), CliError> {
    let settings = context.settings()?;
    match Role::loop_phases().into_iter().find(|role| settings.agent_for(role).is_none()) {
        Some(role) => Err(EngineError::from(AttemptError::NoAgent { role }).into()),
        None => Ok(()),
    }
}

/// An engine for the loop, unless another Baton runs here.
async fn own_engine(
    context: &CliContext,
    unattended: Unattended,
) -> Result<(Option<File>, Option<Engine>, Option<AgentEndpoint>), CliError> {
    match lock_engine(context).await {
        Ok(lock) => {
            let mut engine = context
                .engine_with(|settings| {
                    settings.only_roles = Role::loop_phases().to_vec();
                    if unattended != Unattended::Human {
                        settings.asking.unattended = unattended;
                    }
                })
                .await?;
            let endpoint = AgentEndpoint::open(context, &mut engine).await?;
            Ok((Some(lock), Some(engine), endpoint))
        }
        Err(error) if error.code == REFUSED => Ok((None, None, None)),
        Err(error) => Err(error),
    }
}

/// Starts the loop, or continues the running one.
async fn begin(
    context: &CliContext,
    session: &SessionId,
    from: Option<LoopStartArg>,
    goal: Option<&NonBlank>,
) -> Result<(), CliError> {
    if goal.is_some() && from.is_some_and(|from| from != LoopStartArg::Plan) {
        return Err(CliError::usage(
            "only the plan phase takes a goal",
            "leave the goal out, or start with --from plan",
        ));
    }
    let current = Loops::new(&context.tasks).phase_loop(session).await?.map(|stored| stored.value);
    let phase = current.as_ref().map_or(Phase::Hub, PhaseLoop::phase);
    let start = match from.unwrap_or(LoopStartArg::Plan) {
        LoopStartArg::Plan => PhaseStart::Plan,
        LoopStartArg::Execute => PhaseStart::Execute,
        LoopStartArg::Review => PhaseStart::Review,
    };
    match (phase, from) {
        (Phase::Hub, _) => {
            let start = loops::LoopStart { session, at: start, project: None, message: goal };
            Loops::new(&context.tasks).start_loop(&start, &context.actor()).await?;
        }
        (_, None) if goal.is_some() => {
            return Err(CliError::refused(
                format!("the loop of {session} is already running, in its {phase} phase"),
                format!(
                    "continue it without a goal: {}; or start another one: baton loop GOAL --session NAME",
                    command_for(session)
                ),
            ));
        }
        (_, None) => output::talk(&format!("Continuing the loop in its {phase} phase.")),
        (_, Some(_)) => {
            return Err(CliError::refused(
                format!("the loop of {session} is already running, in its {phase} phase"),
                format!("continue it: {}; or stop it there with Ctrl-C first", command_for(session)),
            ));
        }
    }
    Ok(())
}

const fn unattended(policy: UnattendedArg) -> Unattended {
    match policy {
        UnattendedArg::Default => Unattended::Default,
        UnattendedArg::Fail => Unattended::Fail,
        UnattendedArg::Escalate => Unattended::Escalate,
        UnattendedArg::Human => Unattended::Human,
    }
}

/// The command that goes on with this session's loop.
fn command_for(session: &SessionId) -> String {
    match session.as_str() {
        DEFAULT_SESSION => "baton loop".to_owned(),
        named => format!("baton loop --session {named}"),
    }
}

struct LoopSession<'a> {
    context: &'a CliContext,
    session: &'a SessionId,
    policy: Unattended,
    input: AnswerInput,
    /// The question printed last.
    shown: Option<QuestionId>,
    /// The last event printed.
    seq: u64,
    /// Why the loop ended, and the error if there was one.
    exit: Option<(ExitReason, Option<NonBlank>)>,
    scheduling: Scheduling,
    /// Why the phase's agent does not start, as printed last.
    told: Option<String>,
}

impl LoopSession<'_> {
    /// Prints events and reads answers until the loop is back in the hub.
    async fn run_until_hub(&mut self) -> Result<PhaseLoop, CliError> {
        let mut interrupt = signals::interrupt()?;
        let mut changes = self.context.tasks.changes();
        loop {
            changes.mark_unchanged();
            self.print_events().await?;
            let current =
                Loops::new(&self.context.tasks).phase_loop(self.session).await?.map(|stored| stored.value);
            match current {
                Some(current) if current.phase() != Phase::Hub => self.tell_waiting(&current).await?,
                Some(current) => return Ok(current),
                None => return Ok(PhaseLoop::new(self.session.clone())),
            }
            let responder = AutoResponder::new(self.context.tasks.clone(), self.policy.policy());
            responder.attend_all(Some(self.session)).await?;
            let pending = self.pending().await?;
            let line = tokio::select! {
                _ = interrupt.recv() => return self.stop().await,
                _ = changes.changed() => continue,
                line = self.line_for(pending.as_ref()) => line,
            };
            // Not inside select!, which could drop a line that was read.
            if let Some(record) = &pending {
                self.answer(record, line).await?;
            }
        }
    }

    /// Says why the agent that the phase waits for is not started. Limits do not change by themselves, so without this
    /// the loop would just stand still.
    async fn tell_waiting(&mut self, current: &PhaseLoop) -> Result<(), CliError> {
        let waiting = match current.work().at_work() {
            Some(task) if current.pending().is_none() => {
                task_view(&self.scheduling, task).await?.not_started.map(|reason| (task, reason.message))
            }
            Some(_) | None => None,
        };
        let told = waiting.map(|(task, why)| format!("  {task} is not started yet: {why}"));
        if let Some(told) = told.as_ref().filter(|told| self.told.as_ref() != Some(*told)) {
            output::talk(told);
        }
        self.told = told;
        Ok(())
    }

    /// The loop's own question, or that of an agent of its. Other tasks of the session ask elsewhere (I6).
    async fn pending(&self) -> Result<Option<QuestionRecord>, CliError> {
        let tasks = &self.context.tasks;
        let pending = tasks.pending_questions(PENDING_MAX).await?;
        for record in pending.into_iter().filter(|record| record.session_id == *self.session) {
            let is_own = match record.task_id {
                None => true,
                Some(task) => Role::loop_phases().contains(&tasks.task(task).await?.value.spec().role),
            };
            if is_own {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Prints the question and reads a line. Never returns without a question.
    async fn line_for(&mut self, pending: Option<&QuestionRecord>) -> Option<String> {
        let Some(record) = pending else { return std::future::pending().await };
        if self.shown != Some(record.question.id) {
            output::talk(render_prompt(record).trim_end());
            self.shown = Some(record.question.id);
        }
        self.input.next(record.question.kind().is_human_only()).await
    }

    async fn answer(&self, record: &QuestionRecord, line: Option<String>) -> Result<(), CliError> {
        let question = &record.question;
        let Some(line) = line else {
            return Err(CliError {
                message: format!("{} waits for an answer, and there is no terminal to give one", question.id),
                hint: format!(
                    "answer it, then continue: baton answer {} TEXT, then {}",
                    question.id,
                    command_for(self.session)
                ),
                code: UNANSWERED,
                reason: None,
            });
        };
        let line = typed_answer(&line, question.id);
        let answer = CliContext::non_blank(line, "the answer")?;
        let context = self.context;
        match Answers::new(&context.tasks)
            .answer(question.id, answer, context.answered_by(), context.actor())
            .await
        {
            Ok(_) => output::talk(&format!("  {} ← {}", question.id, line.trim())),
            // Not an option, or somebody else answered first: say so, and ask again if it is still pending.
            Err(error) => {
                let error = CliError::from(error);
                if error.code != REFUSED && error.code != USAGE {
                    return Err(error);
                }
                output::talk(&format!("{}\n{}", error.message, error.hint));
            }
        }
        Ok(())
    }

    async fn print_events(&mut self) -> Result<(), CliError> {
        loop {
            let events = self.context.tasks.events_after(self.seq).await?;
            let Some(last) = events.last() else { return Ok(()) };
            self.seq = last.seq;
            for recorded in &events {
                self.print(&recorded.event.body).await?;
            }
        }
    }

    async fn print(&mut self, body: &EventBody) -> Result<(), CliError> {
        match body {
            EventBody::PhaseHandedOff { session, handoff } if session == self.session => {
                output::talk(&format!("— iteration {}: {} —", handoff.iteration, handoff.to));
            }
            EventBody::AgentStarted { task, .. } => {
                let task = self.context.tasks.task(*task).await?.value;
                if task.spec().session_id == *self.session {
                    output::talk(&format!("  agent started: {} {}", task.id(), task.spec().title));
                }
            }
            EventBody::RunExited { session, reason, error, .. } if session == self.session => {
                output::talk(&reason.message());
                if let Some(error) = error {
                    output::talk(&format!("  {error}"));
                }
                self.exit = Some((reason.clone(), error.clone()));
                if reason.as_str() == "no-tasks-available" {
                    output::talk("  add one: baton task add TITLE");
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A loop that did not end by its own gate is a failure for scripts.
    fn check_exit(&self) -> Result<(), CliError> {
        match &self.exit {
            Some((reason, error)) if reason.category() == ExitCategory::Error => Err(CliError::failed(
                error.as_ref().map_or_else(|| reason.message(), ToString::to_string),
                "see the agents' logs: baton task list, then baton task log TASK",
            )),
            Some((reason, _)) if self.policy == Unattended::Fail && *reason == ExitReason::unanswered() => {
                Err(CliError {
                    message: "nobody answered, so the loop was stopped (--unattended fail)".to_owned(),
                    hint: format!("answer yourself: {}", command_for(self.session)),
                    code: UNANSWERED,
                    reason: None,
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    async fn stop(&self) -> Result<PhaseLoop, CliError> {
        let stopped =
            Loops::new(&self.context.tasks).break_off_loop(self.session, self.context.actor()).await?;
        output::talk(&stopped.summary().to_string());
        Err(CliError {
            message: "the loop was stopped; no work is lost".to_owned(),
            hint: format!(
                "start again: {0}; continue open tasks: {0} --from execute",
                command_for(self.session)
            ),
            code: INTERRUPTED,
            reason: None,
        })
    }
}

fn summary(context: &CliContext, ended: &PhaseLoop) -> Result<String, CliError> {
    let summary = ended.summary();
    if context.is_json {
        return output::json(&json!({
            "session_id": ended.session(),
            "phase": ended.phase(),
            "iteration": ended.iteration(),
            "summary": summary,
        }));
    }
    Ok(format!(
        "The loop is back in the hub.\n{summary}\n\nNew loop:     baton loop\nView results: baton task list\n\
         Edit tasks:   baton task add|cancel\n"
    ))
}
