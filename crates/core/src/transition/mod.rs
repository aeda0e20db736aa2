//! Decisions: from rows and a command to one change, or a refusal.
//!
//! [`Task::apply`] is the only function that changes a task, and the `match` below is the whole state machine. The
//! files beside it hold the steps; [`table`] lists which state may follow which, for the diagrams and the tests.
//! Approvals, imports, holds and tokens produce their changes here too. Types without decisions are in the folders
//! below.

mod access_token;
pub mod approval;
pub mod arrival;
mod asking;
pub mod command;
pub mod diagram;
mod hold;
mod judged;
mod landing;
mod messages;
pub mod refusal;
mod reply;
mod step;
pub mod table;
mod takeover;
mod verdicts;
use crate::records::transition::Transition;
#[cfg(test)]
pub(crate) use landing::cannot_land;
#[cfg(test)]
pub(crate) use verdicts::merge_conflict;

use crate::task::Task;
use crate::task::state::TaskState as State;
use crate::transition::command::{Command, CommandContext};
use crate::transition::refusal::CommandRefusal;
use step::TransitionBuilder;

impl Task {
    /// Applies `command`, or says why not. A refusal leaves the task unchanged.
    #[expect(clippy::too_many_lines, reason = "the table is the program, and it is read as a whole")]
    pub fn apply(&self, command: Command, context: &CommandContext) -> Result<Transition, CommandRefusal> {
        let name = command.name();
        let mut step = TransitionBuilder::new(self, context);
        match (&self.state, command) {
            (
                State::Incoming | State::NeedsContinuation { .. } | State::Breakdown { .. },
                Command::Claim { attempt, agent, open_blockers, worker },
            ) => step.claim(attempt, agent, open_blockers, worker)?,
            (State::Breakdown { .. }, Command::Release) => step.release()?,
            // Not a wrong command: only too early.
            (State::Held, Command::Claim { .. }) => {
                return Err(CommandRefusal::NotReleased { task: self.id() });
            }
            (State::Held, Command::Release) => step.let_go()?,
            (
                State::Incoming
                | State::Held
                | State::Claimed { .. }
                | State::NeedsContinuation { .. }
                | State::AwaitingResponse { .. }
                | State::Blocked { .. },
                Command::Hold { reason },
            ) => step.hold_back(reason)?,
            (
                State::Incoming
                | State::Held
                | State::Claimed { .. }
                | State::NeedsContinuation { .. }
                | State::AwaitingResponse { .. }
                | State::Blocked { .. }
                | State::Provisional(_),
                Command::TakeOver { at_once },
            ) => step.take_over(at_once)?,
            (State::Held, Command::HandBack { is_done }) => step.hand_back(is_done)?,
            (State::Incoming | State::Held | State::Provisional(_), Command::MarkFailed { reason }) => {
                step.mark_failed(reason)?;
            }
            (State::Breakdown { .. }, Command::SubmitPlan) => step.submit_plan()?,

            (State::Claimed { attempt: live }, Command::Start { attempt, cycle, owner }) => {
                step.start(step.current(live, attempt)?.id, cycle, owner)?;
            }
            (State::Claimed { attempt: live }, Command::NoteSession { attempt, session }) => {
                step.note_session(step.current(live, attempt)?, session);
            }
            (State::Claimed { attempt: live }, Command::NoteDelivery { attempt, number }) => {
                step.note_delivery(step.current(live, attempt)?.id, number);
            }
            (State::Claimed { .. }, Command::Ask { owner, question }) => {
                step.ask_for_agent(&owner, question)?;
            }
            // The former owner of the cycle: its turn to ask is over (I6).
            (_, Command::Ask { owner, .. }) => return Err(step.nobody_may_ask(&owner)),

            (State::Claimed { attempt: live }, Command::Settle { attempt, end }) => {
                step.settle(step.current(live, attempt)?, end);
            }
            (State::Claimed { attempt: live }, Command::ExpireLease { attempt }) => {
                step.expire_lease(step.current(live, attempt)?);
            }
            // What an attempt sends after its task moved on is stale, not wrong.
            (
                _,
                Command::Start { attempt, .. }
                | Command::NoteSession { attempt, .. }
                | Command::NoteDelivery { attempt, .. }
                | Command::Settle { attempt, .. }
                | Command::ExpireLease { attempt },
            ) => {
                step.fence(attempt, None)?;
            }

            (State::Claimed { attempt }, Command::Reply { question, answer, answered_by })
                if self.pending_question().is_some() =>
            {
                step.reply_to_agent(attempt, question, &answer, answered_by)?;
            }
            (State::Claimed { attempt }, Command::FailClosed { question, reason })
                if self.pending_question().is_some() =>
            {
                step.fail_closed_at_work(attempt.clone(), question, reason)?;
            }
            (State::AwaitingResponse { waiting }, Command::Reply { question, answer, answered_by }) => {
                step.reply(&waiting.question, waiting.after, question, &answer, answered_by)?;
            }
            (State::Blocked { waiting }, Command::Reply { question, answer, answered_by }) => {
                let pending = waiting.question.question();
                step.reply(pending, waiting.after, question, &answer, answered_by)?;
            }
            (State::AwaitingResponse { waiting }, Command::FailClosed { question, reason }) => {
                step.fail_closed(&waiting.question, question, reason)?;
            }
            (State::Blocked { waiting }, Command::FailClosed { question, reason }) => {
                step.fail_closed(waiting.question.question(), question, reason)?;
            }

            (State::AwaitingResponse { waiting }, Command::LeaveRun) => step.leave_run(waiting.after)?,
            (State::Blocked { waiting }, Command::LeaveRun) => step.leave_run(waiting.after)?,

            (State::Provisional(work), Command::Accept { force }) => step.accept(work, force)?,
            (State::Provisional(work), Command::Reject { reason }) => step.reject(work, reason)?,
            (State::Provisional(work), Command::Recycle { reason }) => step.recycle(work, reason)?,
            (State::Provisional(work), Command::ReportConflict { detail }) => {
                step.report_conflict(work, &detail)?;
            }
            (State::Provisional(work), Command::EnterLane { force }) => step.enter_lane(work, force)?,
            (State::Landing(entry), Command::Land { commit, verified, evidence }) => {
                step.land(entry, commit, verified, evidence)?;
            }
            (State::Landing(_), Command::DelayLanding { reason }) => step.delay_landing(reason)?,
            (State::Landing(entry), Command::SendBack { reason }) => step.send_back(entry, reason)?,
            (State::Landing(entry), Command::Reject { reason }) => step.reject(&entry.work, reason)?,
            (State::Provisional(work), Command::ForceLand { commit, withdrawn }) => {
                step.force_land(work, commit, withdrawn)?;
            }
            (State::Landing(entry), Command::ForceLand { commit, withdrawn }) => {
                step.force_land(&entry.work, commit, withdrawn)?;
            }
            (State::Provisional(work), Command::ApprovePlan) => step.approve_plan(work)?,

            (State::Incoming | State::Held, Command::Replace { by }) => step.split_into(by)?,
            (State::Recycled { replaced_by }, Command::Replace { by }) => step.replace(replaced_by, by)?,
            (State::Failed { was_held, .. }, Command::Retry) => step.retry(*was_held)?,
            (State::Cancelled { .. }, Command::Retry) => step.bring_back()?,
            (
                State::Incoming
                | State::Held
                | State::Breakdown { .. }
                | State::Claimed { .. }
                | State::NeedsContinuation { .. }
                | State::AwaitingResponse { .. }
                | State::Blocked { .. }
                | State::Provisional(_)
                | State::Landing(_)
                | State::Recycled { .. }
                | State::Failed { .. },
                Command::Cancel { reason },
            ) => step.cancel(reason)?,
            // Nobody works on it, and somebody may again.
            (
                State::Incoming
                | State::Held
                | State::Breakdown { .. }
                | State::NeedsContinuation { .. }
                | State::AwaitingResponse { .. }
                | State::Blocked { .. }
                | State::Provisional(_)
                | State::Failed { .. },
                Command::Revise { revision },
            ) => step.revise(revision)?,
            // An agent works on it, or may again.
            (
                State::Incoming
                | State::Held
                | State::Breakdown { .. }
                | State::Claimed { .. }
                | State::NeedsContinuation { .. }
                | State::AwaitingResponse { .. }
                | State::Blocked { .. }
                | State::Provisional(_)
                | State::Landing(_)
                | State::Failed { .. },
                Command::AddMessage { number, text },
            ) => step.add_message(number, text)?,
            (state, Command::AddMessage { .. }) => {
                return Err(CommandRefusal::NoReader { task: self.id(), state: state.name() });
            }

            (state, _) => {
                return Err(CommandRefusal::WrongState {
                    task: self.id(),
                    state: state.name(),
                    command: name,
                });
            }
        }
        let transition = step.finish();
        debug_assert!(table::allows(&self.state, name, &transition.task.state), "{name} is not in the table");
        Ok(transition)
    }
}
