//! `baton loop`: the Plan → Execute → Review loop in a terminal, from its start or from where it stands.
//!
//! It shows the phases and the questions, and takes the answers. The loop itself is in the store: ending this command
//! in any way but Ctrl-C leaves it where it is, and Ctrl-C takes it back to the hub.

use baton_engine::attempt::error::AttemptError;
use std::fs::File;

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{QuestionId, SessionId};
use baton_core::base::text::{NonBlank, Role};
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::phase::{Phase, PhaseStart};
use baton_core::recipe::exit_reason::{ExitCategory, ExitReason};
use baton_core::records::event::EventBody;
use baton_engine::asking::AutoResponder;
use baton_engine::base::error::EngineError;
use baton_engine::loops;
use baton_engine::services::engine::Engine;
use baton_engine::settings::{Settings, Unattended};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::question::shown;
use super::up::only_one;
use crate::agents_door::AgentsDoor;
use crate::cli::looping::{Loop, LoopStart, UnattendedPolicy};
use crate::fault::{FAILED, Fault, REFUSED, UNANSWERED, USAGE};
use crate::office::Office;
use crate::output;
use crate::typed::Typed;

/// Interrupted by a person, as shells count it.
const INTERRUPTED: u8 = 130;
/// Questions looked through for those of the loop's session.
const PENDING_MAX: u32 = 1_000;

pub async fn run(office: &Office, asked: Loop) -> Result<String, Fault> {
    let session = Office::session(&asked.session)?;
    let typed = Typed::open(asked.answers.as_deref())?;
    let policy = asked.unattended.map(unattended);
    check_agents(office)?;
    let (_alone, engine, gateway) = own_engine(office, policy.unwrap_or_default()).await?;
    let seq = office.tasks.last_event().await?;
    begin(office, &session, asked.from).await?;
    let (stop, shutdown) = watch::channel(false);
    let working = async {
        match &engine {
            Some(engine) => Box::pin(engine.run(shutdown)).await.map_err(Fault::from),
            // Another Baton does the work here; this one only talks.
            None => std::future::pending().await,
        }
    };
    let mut talk = Talk {
        office,
        session: &session,
        policy: policy.unwrap_or_default(),
        typed,
        shown: None,
        seq,
        exit: None,
    };
    tokio::pin!(working);
    let ended = tokio::select! {
        ended = talk.until_the_hub() => ended,
        worked = &mut working => return worked.map(|()| String::new()),
    };
    // Agents are ended before the command is.
    let _ = stop.send(true);
    if engine.is_some() {
        working.await?;
    }
    if let Some(gateway) = gateway {
        gateway.close().await;
    }
    let ended = ended?;
    talk.ended_badly()?;
    summary(office, &ended)
}

/// Without agents the loop would wait for ever, and say nothing.
fn check_agents(office: &Office) -> Result<(), Fault> {
    let settings = Settings::load(&office.place.settings_path()).map_err(EngineError::from)?;
    match Role::of_loop().into_iter().find(|role| settings.agent_for(role).is_none()) {
        Some(role) => Err(EngineError::from(AttemptError::NoAgent { role }).into()),
        None => Ok(()),
    }
}

/// The engine for the loop's own work, unless a Baton runs here already.
async fn own_engine(
    office: &Office,
    unattended: Unattended,
) -> Result<(Option<File>, Option<Engine>, Option<AgentsDoor>), Fault> {
    match only_one(office) {
        Ok(alone) => {
            let mut engine = office
                .engine_with(|settings| {
                    settings.only_roles = Role::of_loop().to_vec();
                    if unattended != Unattended::Human {
                        settings.asking.unattended = unattended;
                    }
                })
                .await?;
            let gateway = AgentsDoor::open(office, &mut engine).await?;
            Ok((Some(alone), Some(engine), gateway))
        }
        Err(fault) if fault.code == REFUSED => Ok((None, None, None)),
        Err(fault) => Err(fault),
    }
}

/// Starts the loop, or goes on with the one that is under way.
async fn begin(office: &Office, session: &SessionId, from: Option<LoopStart>) -> Result<(), Fault> {
    let current = office.tasks.phase_loop(session).await?.map(|stored| stored.value);
    let phase = current.as_ref().map_or(Phase::Hub, PhaseLoop::phase);
    let start = match from.unwrap_or(LoopStart::Plan) {
        LoopStart::Plan => PhaseStart::Plan,
        LoopStart::Execute => PhaseStart::Execute,
        LoopStart::Review => PhaseStart::Review,
    };
    match (phase, from) {
        (Phase::Hub, _) => {
            let start = loops::LoopStart { session, at: start, project: None, message: None };
            office.tasks.start_loop(&start, &office.actor()).await?;
        }
        (_, None) => output::talk(&format!("The loop goes on in its {phase} phase.")),
        (_, Some(_)) => {
            return Err(Fault {
                message: format!("the loop of {session} is in its {phase} phase"),
                hint: "go on with it: baton loop; or end it first, with Ctrl-C in there".to_owned(),
                code: REFUSED,
            });
        }
    }
    Ok(())
}

const fn unattended(policy: UnattendedPolicy) -> Unattended {
    match policy {
        UnattendedPolicy::Default => Unattended::Default,
        UnattendedPolicy::Fail => Unattended::Fail,
        UnattendedPolicy::Escalate => Unattended::Escalate,
        UnattendedPolicy::Human => Unattended::Human,
    }
}

struct Talk<'a> {
    office: &'a Office,
    session: &'a SessionId,
    policy: Unattended,
    typed: Typed,
    /// The question that was shown last.
    shown: Option<QuestionId>,
    /// The last event that was told.
    seq: u64,
    /// Why the loop ended, where it did, and what went wrong.
    exit: Option<(ExitReason, Option<NonBlank>)>,
}

impl Talk<'_> {
    /// Shows what happens and takes answers, until the loop is back in the hub.
    async fn until_the_hub(&mut self) -> Result<PhaseLoop, Fault> {
        let failed = |error: std::io::Error| Fault {
            message: format!("signals cannot be heard: {error}"),
            hint: "check the limits of this session".to_owned(),
            code: FAILED,
        };
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut changes = self.office.tasks.changes();
        loop {
            changes.mark_unchanged();
            self.tell_news().await?;
            let current = self.office.tasks.phase_loop(self.session).await?.map(|stored| stored.value);
            match current {
                Some(current) if current.phase() != Phase::Hub => {}
                Some(current) => return Ok(current),
                None => return Ok(PhaseLoop::new(self.session.clone())),
            }
            let auto_responder = AutoResponder::new(self.office.tasks.clone(), self.policy.policy());
            auto_responder.attend_all(Some(self.session)).await?;
            let pending = self.pending().await?;
            let line = tokio::select! {
                _ = interrupt.recv() => return self.break_off().await,
                _ = changes.changed() => continue,
                line = self.line_for(pending.as_ref()) => line,
            };
            // Outside of the wait, so that a line that was taken is never dropped on the way.
            if let Some(record) = &pending {
                self.answer(record, line).await?;
            }
        }
    }

    async fn pending(&self) -> Result<Option<QuestionRecord>, Fault> {
        let pending = self.office.tasks.pending_questions(PENDING_MAX).await?;
        Ok(pending.into_iter().find(|record| record.session_id == *self.session))
    }

    /// Shows the question and waits for a line. Without a question there is nothing to wait for here.
    async fn line_for(&mut self, pending: Option<&QuestionRecord>) -> Option<String> {
        let Some(record) = pending else { return std::future::pending().await };
        if self.shown != Some(record.question.id) {
            output::talk(shown(record).trim_end());
            self.shown = Some(record.question.id);
        }
        self.typed.next(record.question.kind().is_human_only()).await
    }

    async fn answer(&self, record: &QuestionRecord, line: Option<String>) -> Result<(), Fault> {
        let question = &record.question;
        let Some(line) = line else {
            return Err(Fault {
                message: format!("{} waits for an answer, and nobody is there to give one", question.id),
                hint: format!("answer it and go on: baton answer {} TEXT, then baton loop", question.id),
                code: UNANSWERED,
            });
        };
        let answer = Office::said(&line, "the answer")?;
        let office = self.office;
        match office.tasks.answer(question.id, answer, office.answered_by(), office.actor()).await {
            Ok(_) => output::talk(&format!("  {} ← {}", question.id, line.trim())),
            // Not one of the words, or somebody was quicker: said, and asked again where it still waits.
            Err(error) => {
                let fault = Fault::from(error);
                if fault.code != REFUSED && fault.code != USAGE {
                    return Err(fault);
                }
                output::talk(&format!("{}\n{}", fault.message, fault.hint));
            }
        }
        Ok(())
    }

    async fn tell_news(&mut self) -> Result<(), Fault> {
        loop {
            let news = self.office.tasks.events_after(self.seq).await?;
            let Some(last) = news.last() else { return Ok(()) };
            self.seq = last.seq;
            for recorded in &news {
                self.tell(&recorded.event.body).await?;
            }
        }
    }

    async fn tell(&mut self, body: &EventBody) -> Result<(), Fault> {
        match body {
            EventBody::PhaseHandedOff { session, handoff } if session == self.session => {
                output::talk(&format!("— iteration {}: {} —", handoff.iteration, handoff.to));
            }
            EventBody::TaskClaimed { task, .. } => {
                let task = self.office.tasks.task(*task).await?.value;
                if task.spec().session_id == *self.session {
                    output::talk(&format!("  an agent is at work: {} {}", task.id(), task.spec().title));
                }
            }
            EventBody::RunExited { session, reason, error, .. } if session == self.session => {
                output::talk(&reason.message());
                if let Some(error) = error {
                    output::talk(&format!("  {error}"));
                }
                self.exit = Some((reason.clone(), error.clone()));
                if reason.as_str() == "no-tasks-available" {
                    output::talk("  put one into the queue: baton task add TITLE");
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A loop that did not end by its own gate is no success for whoever started it from a script.
    fn ended_badly(&self) -> Result<(), Fault> {
        match &self.exit {
            Some((reason, error)) if reason.category() == ExitCategory::Error => Err(Fault {
                message: error.as_ref().map_or_else(|| reason.message(), ToString::to_string),
                hint: "see what its agents said: baton task list, then baton task log TASK".to_owned(),
                code: FAILED,
            }),
            Some((reason, _))
                if self.policy == Unattended::Fail && *reason == ExitReason::user_requested() =>
            {
                Err(Fault {
                    message: "nobody answered, so the loop was broken off, as --unattended fail wants it"
                        .to_owned(),
                    hint: "answer in person: baton loop".to_owned(),
                    code: UNANSWERED,
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    async fn break_off(&self) -> Result<PhaseLoop, Fault> {
        let left = self.office.tasks.break_off_loop(self.session, self.office.actor()).await?;
        output::talk(&left.summary().to_string());
        Err(Fault {
            message: "the loop was broken off; nothing is lost".to_owned(),
            hint: "start again: baton loop; what was left open: baton loop --from execute".to_owned(),
            code: INTERRUPTED,
        })
    }
}

fn summary(office: &Office, ended: &PhaseLoop) -> Result<String, Fault> {
    let summary = ended.summary();
    if office.is_json {
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
