//! The life of a simulated task: what its agent, its machine and the people around it write, by core's own rules.

use std::fmt::Write;
use std::time::Duration;

use baton_core::ask::answer_source::AnsweredBy;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::id::{AttemptId, CycleId, QuestionId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::people::owner_token::OwnerToken;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::attempt::{
    AgentSession, AttemptEnd, AttemptReport, AttemptResult, Evidence, SessionUse,
};
use baton_core::task::{Task, TaskSpec};
use baton_core::transition::command::{Command, CommandContext, FreshIds};

/// One task in so many asks before it goes on.
const ASKS_ONE_IN: u32 = 20;
/// An attempt takes from one minute to nine, five in the middle.
const SHORTEST: Duration = Duration::from_mins(1);
const LONGEST: Duration = Duration::from_mins(9);
/// Bytes of what a person asks for and of what an agent reports.
const DESCRIPTION: usize = 600;
const OUTPUT: usize = 1_500;

pub(crate) fn task(number: u32, now: Timestamp) -> Task {
    Task::create(TaskSpec {
        description: prose(number, DESCRIPTION),
        ..TaskSpec::new(
            TaskId::from_bits(number),
            format!("session-{}", number / 50).parse().unwrap(),
            TaskType::Implementation,
            NonBlank::new(format!("Part {number} of the work: {}", prose(number, 40))).unwrap(),
            now,
        )
    })
}

pub(crate) fn created(number: u32, now: Timestamp) -> Change {
    let task = task(number, now);
    let body = EventBody::TaskCreated { spec: Box::new(task.spec().clone()), depends_on: Vec::new() };
    Change::create(task, &[], Event { at: now, by: Actor::human("mia"), body })
}

pub(crate) fn start(attempt: AttemptId) -> Command {
    let owner = OwnerToken::from_digest([7; OwnerToken::BYTES]);
    Command::Start { attempt, cycle: CycleId::from_bits(attempt.bits()), owner }
}

pub(crate) fn note_session(attempt: AttemptId, since: Timestamp) -> Command {
    let id = format!("{:032x}", attempt.bits());
    let agent = "claude".parse().unwrap();
    let session =
        AgentSession { agent, account: None, id, since, is_full: false, used: SessionUse::default() };
    Command::NoteSession { attempt, session }
}

/// How the attempt ends: with a question, or with work.
pub(crate) fn settle(task: &Task, attempt: AttemptId) -> Command {
    let number = task.state().live_attempt().map_or(1, |live| live.number);
    if number == 1 && task.id().bits().is_multiple_of(ASKS_ONE_IN) {
        let text = NonBlank::new("Is the old format still read by anybody, or may it go?").unwrap();
        let asked = AttemptResult::Asked { question: QuestionDraft::new(QuestionKind::Clarification, text) };
        ended(task, attempt, asked)
    } else {
        finish(task, attempt)
    }
}

pub(crate) fn finish(task: &Task, attempt: AttemptId) -> Command {
    ended(task, attempt, AttemptResult::Complete)
}

fn ended(task: &Task, attempt: AttemptId, result: AttemptResult) -> Command {
    let verified = Evidence {
        commits: 2,
        turns: 23,
        turns_max: 50,
        files_changed: 4,
        insertions: 120,
        deletions: 31,
        input_tokens: 180_000,
        output_tokens: 9_000,
        cost_micro_usd: 640_000,
        duration_ms: 300_000,
        ..Evidence::default()
    };
    let reported = AttemptReport::new(result, prose(task.id().bits() ^ 1, OUTPUT));
    Command::Settle { attempt, end: AttemptEnd { reported, verified } }
}

pub(crate) fn reply(question: QuestionId) -> Command {
    let answer = NonBlank::new("Nobody reads it any more; it may go.").unwrap();
    Command::Reply { question, answer, answered_by: AnsweredBy::human("mia") }
}

pub(crate) fn context(now: Timestamp, actor: Actor, question: u32) -> CommandContext {
    CommandContext {
        now,
        actor,
        fresh: FreshIds { question: QuestionId::from_bits(question), breakdown: TaskId::from_bits(0) },
    }
}

/// How long an attempt takes at the pace of real agents.
pub(crate) fn takes(attempt: AttemptId) -> Duration {
    SHORTEST + LONGEST.saturating_sub(SHORTEST).mul_f64(share(attempt.bits()))
}

/// A number from 0 to 1 that looks like chance and is the same every time.
#[expect(clippy::cast_precision_loss, reason = "a few of its bits are plenty")]
pub(crate) fn share(of: u64) -> f64 {
    (mixed(of) >> 11) as f64 / (1_u64 << 53) as f64
}

fn mixed(of: u64) -> u64 {
    let mut bits = of.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// About so many bytes that read, and compress, like what people and agents write.
fn prose(of: u32, bytes: usize) -> String {
    const WORDS: [&str; 32] = [
        "the",
        "parser",
        "returns",
        "when",
        "every",
        "test",
        "in",
        "src/config",
        "was",
        "read",
        "twice",
        "and",
        "now",
        "fails",
        "with",
        "an",
        "error",
        "that",
        "names",
        "its",
        "file",
        "before",
        "request",
        "handler",
        "keeps",
        "a",
        "list",
        "of",
        "open",
        "connections",
        "changed",
        "cache",
    ];
    let mut text = String::with_capacity(bytes + 16);
    let mut bits = u64::from(of);
    while text.len() < bytes {
        bits = mixed(bits);
        text.push_str(WORDS[usize::try_from(bits >> 59).unwrap()]);
        text.push(if bits % 11 == 0 { '.' } else { ' ' });
        if bits % 5 == 0 {
            write!(text, "{:x} ", bits >> 44 & 0xfff).unwrap();
        }
    }
    text
}
